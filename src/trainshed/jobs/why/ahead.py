"""Which jobs come first."""

from collections.abc import Iterator

from trainshed.findings import Violation, rule
from trainshed.jobs.model import JobState
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs

_SHOWN = 5


@rule(
    "TS-JOB-008",
    over=jobs,
    title="Other jobs are before it in the queue",
    why="Jobs of a queue get nodes in their order, and one that cannot be placed blocks the rest.",
    remedy="Wait, or end one",
)
def ahead(evidence: Evidence) -> Iterator[Violation]:
    """Jobs of a queue get nodes in their order, and one that cannot be placed blocks the rest."""
    others = (*evidence.placed, *evidence.ahead)
    if evidence.job.state is not JobState.QUEUED or not others:
        return
    # Oldest first: it is the one that blocks.
    jobs = sorted(others, key=lambda job: job.created_at)
    nodes = sum(job.nodes for job in jobs)
    names = ", ".join(f"{job.name} {job.job_id} {job.status}" for job in jobs[:_SHOWN])
    more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
    where = "before it in the queue" if evidence.queue or evidence.by_kueue else "there, too"
    yield Violation(
        message=f"{len(jobs)} jobs of {nodes} nodes are {where}: {names}{more}",
        remedy="wait, or end one: trainshed job cancel JOB; why the first waits: "
        f"trainshed job why {jobs[0].job_id}",
    )
