"""Whether the cluster's own guard has stopped its nodes."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import EndCause, JobState
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs

# Inferred: nodes end, and their jobs with them, so long after they are stopped; and so long after
# that the alarm about idle nodes is still on, whose end is then the time that is known.
_ENDS_IN = timedelta(minutes=20)


@rule(
    "TS-JOB-038",
    over=jobs,
    title="The guard of the cluster has stopped its nodes",
    severity=Severity.ERROR,
    why="""
The section `guard` of the cluster file says when the cluster has nodes: until it expires, or in its
working hours, or until they are idle. A job that waits then gets no nodes, and one that ran on
plain EC2 nodes or in Kubernetes ended with them. With AWS Batch a job that runs goes on, but is
ended when the cluster has expired.
""",
    remedy="Wait for the next working hours, or do what the finding says to have nodes before",
)
def stopped_nodes(evidence: Evidence) -> Iterator[Violation]:
    """The guard of the cluster stops its nodes."""
    found = evidence.stopped
    if found and (evidence.waits or (found.at and _ended_then(evidence, found.at))):
        yield Violation(message=found.reason, remedy=found.remedy)


def _ended_then(evidence: Evidence, at: datetime) -> bool:
    """Whether the job failed because its nodes ended at a time."""
    job = evidence.job
    if job.state is not JobState.FAILED:
        return False
    # Jobs of a queue of AWS Batch go on, until the cluster has expired.
    if evidence.queue:
        return evidence.ended_at_expiry
    if job.stopped_at:
        return abs(job.stopped_at - at) < _ENDS_IN
    # Nothing says when a job of plain EC2 nodes ended that lost its main node.
    return job.cause is EndCause.HOST_ENDED and job.created_at < at
