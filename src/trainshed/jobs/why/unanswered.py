"""What could not be asked."""

from collections.abc import Iterator

from trainshed.findings import Violation, rule
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs


@rule(
    "TS-JOB-020",
    over=jobs,
    title="AWS refused a question about the job",
    why="""
AWS refused a question of `job why`, for instance for want of a permission.

What could not be asked may hide the reason.
""",
    remedy="The permissions that jobs (docs/jobs.md) lists",
)
def unanswered(evidence: Evidence) -> Iterator[Violation]:
    """What could not be asked may hide the reason."""
    for refusal in evidence.unanswered:
        yield Violation(
            message=f"not looked at: {refusal}",
            remedy="docs/jobs.md lists the permissions; then ask again",
        )
