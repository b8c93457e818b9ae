"""What watches the jobs and nodes of AWS Batch.

AWS Batch sends no metrics of its queues, and no metric says how many nodes it wants: its events
are counted by rules of EventBridge, and nodes by what they send.
"""

from collections.abc import Iterator

from trainshed.metrics import RULE_METRICS
from trainshed.monitoring.common import running_nodes
from trainshed.monitoring.model import QUEUE, RULE, Alarm, EventRule, Line, Widget
from trainshed.plan import ClusterPlan

_QUEUE = {"jobQueue": [QUEUE]}
# AWS Batch API reference, JobStatus.
_STATES = {"started": "RUNNING", "succeeded": "SUCCEEDED", "failed": "FAILED"}


def widgets(plan: ClusterPlan) -> Iterator[Widget]:
    """Yield the graphs of nodes and jobs."""
    yield Widget(title="Nodes", lines=running_nodes(plan, 60))
    yield Widget(
        title="Jobs, in 5 minutes",
        lines=tuple(
            Line(
                id=rule.name.replace("-", "_"),
                label=rule.description,
                metric=RULE_METRICS.matched,
                dimensions={"RuleName": f"{RULE}{rule.name}"},
            )
            for rule in rules(plan)
        ),
        period=300,
    )


def alarms(plan: ClusterPlan) -> Iterator[Alarm]:
    """Yield none: how many nodes AWS Batch wants is not known."""
    yield from ()


def rules(plan: ClusterPlan) -> Iterator[EventRule]:
    """Yield a rule for each state of jobs that matters, and one for a queue that is blocked.

    AWS Batch user guide, "Job state change events" and "Job queue blocked events".
    """
    for name, status in _STATES.items():
        yield EventRule(
            name=f"jobs-{name}",
            description=f"jobs {name}",
            pattern={
                "source": ["aws.batch"],
                "detail-type": ["Batch Job State Change"],
                "detail": {**_QUEUE, "status": [status]},
            },
        )
    yield EventRule(
        name="queue-blocked",
        description="jobs that block the queue",
        pattern={
            "source": ["aws.batch"],
            "detail-type": ["Batch Job Queue Blocked"],
            "detail": _QUEUE,
        },
        paths={"job": "$.detail.jobId", "name": "$.detail.jobName", "why": "$.detail.statusReason"},
        says=f"{plan.name}: job <name> (<job>) blocks the queue: <why>. "
        "Look at: trainshed job why <job>",
    )
