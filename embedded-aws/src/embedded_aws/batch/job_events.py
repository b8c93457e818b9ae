"""EventBridge's events for jobs.

AWS Batch user guide, "Job state change events" and "Job queue blocked events": source, detail
types, resources, and a detail that resembles what DescribeJobs shows.
"""

from collections.abc import Sequence

from embedded_aws.actions import Row
from embedded_aws.hooks import ServiceEvent, when_event_sent

# Of DescribeJobs, what the user guide's examples have. Inferred: nodeProperties.
_SHOWN = (
    *("jobArn", "jobName", "jobId", "jobQueue", "status", "statusReason", "attempts", "createdAt"),
    *("startedAt", "stoppedAt", "retryStrategy", "dependsOn", "jobDefinition", "parameters"),
    *("container", "nodeProperties", "tags"),
)


def state_changed(row: Row) -> None:
    """Tell EventBridge of a job's new state.

    Args:
        row: of the job.
    """
    _send(row, "Batch Job State Change", [row["jobArn"]])


def queue_blocked(row: Row) -> None:
    """Tell EventBridge that a job blocks its queue.

    Args:
        row: of the job, which is first in its queue; its statusReason says why it waits.
    """
    _send(row, "Batch Job Queue Blocked", [row["jobArn"], row["jobQueue"]])


def _send(row: Row, detail_type: str, resources: Sequence[str]) -> None:
    region, account = row["jobArn"].split(":")[3:5]
    when_event_sent.call(
        ServiceEvent(
            account=account,
            region=region,
            source="aws.batch",
            detail_type=detail_type,
            resources=resources,
            detail={name: row[name] for name in _SHOWN if name in row},
        )
    )
