"""Whether the nodes of a job on plain EC2 got its command."""

from collections.abc import Iterator

from trainshed.findings import Finding, Severity
from trainshed.jobs.model import EndCause, ranges
from trainshed.jobs.why.evidence import Evidence


def check_delivery(evidence: Evidence) -> Iterator[Finding]:
    """A node whose agent does not answer, or that has ended, does not start its part."""
    lost = [
        node
        for node in evidence.job.nodes
        if node.ending and node.ending.cause is EndCause.NOT_DELIVERED
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
