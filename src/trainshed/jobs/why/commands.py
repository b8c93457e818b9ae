"""Whether the nodes of a job on plain EC2 got its command."""

from collections.abc import Iterator

from trainshed.findings import Finding, Severity
from trainshed.jobs.model import Scheduler, ranges
from trainshed.jobs.why.facts import Facts

# Systems Manager user guide, "Understanding command statuses".
_UNDELIVERED = ("DeliveryTimedOut", "InvalidPlatform", "Undeliverable")


def check_delivery(facts: Facts) -> Iterator[Finding]:
    """A node whose agent does not answer, or that has ended, does not start its part."""
    if facts.job.scheduler is not Scheduler.RUN_COMMAND:
        return
    lost = [
        node
        for node in facts.job.nodes
        if node.ending and node.ending.status_reason in _UNDELIVERED
    ]
    if lost:
        yield Finding(
            rule="TS-JOB-021",
            severity=Severity.ERROR,
            message=f"node {ranges(node.index for node in lost)} "
            f"({', '.join(str(node.address) for node in lost)}) did not get the command: it has "
            "ended, or its Systems Manager agent does not answer",
            remedy="terminate what does not answer, so that it is replaced, and submit the job "
            "again",
        )
