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
AWS refused a question of `job why`, for instance because a permission is missing.

The answer might have shown the reason.
""",
    remedy="Grant the permissions that docs/jobs.md lists",
)
def unanswered(evidence: Evidence) -> Iterator[Violation]:
    """An answer that AWS refused might have shown the reason."""
    for refusal in evidence.unanswered:
        yield Violation(
            message=f"not looked at: {refusal}",
            remedy="grant the permissions that docs/jobs.md lists, and ask again",
        )
