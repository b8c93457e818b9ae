"""Whether the nodes of a job on plain EC2 got its command."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import EndCause, ranges
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs


@rule(
    "TS-JOB-021",
    over=jobs,
    title="A node did not get the job's command",
    severity=Severity.ERROR,
    why="""
A node of a cluster with orchestrator ec2 did not get the job's command.

A node whose agent does not answer, or that has ended, does not start its part.
""",
    remedy="Terminate the node whose Systems Manager agent does not answer, and submit the job "
    "again",
)
def delivery(evidence: Evidence) -> Iterator[Violation]:
    """A node whose agent does not answer, or that has ended, does not start its part."""
    lost = [
        node
        for node in evidence.job.nodes
        if node.ending and node.ending.cause is EndCause.NOT_DELIVERED
    ]
    if lost:
        yield Violation(
            message=f"node {ranges(node.index for node in lost)} "
            f"({', '.join(str(node.address) for node in lost)}) did not get the command: it has "
            "ended, or its Systems Manager agent does not answer",
            remedy="terminate the instance that does not answer, so that it is replaced, and "
            "submit the job again",
        )
