"""What a change does to the jobs of a cluster that are not over."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import ceil

from trainshed.jobs.model import Job
from trainshed.jobs.scheduler import Scheduler
from trainshed.review.model import Risk, RiskKind


class Fate(StrEnum):
    """What happens to a job."""

    GOES_ON = "goes on"
    WAITS_ON = "waits on"
    """It has no nodes yet, and gets new ones."""
    MAY_END = "may be ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFate:
    """A job that is not over, and what the change does to it.

    Attributes:
        job_id: its id.
        name: its name.
        status: for instance RUNNING.
        nodes: how many it has.
        minutes_left: for so long it runs at most, by its time-out; None where nothing limits it,
            or it has not begun.
        fate: what happens to it.
    """

    job_id: str
    name: str
    status: str
    nodes: int
    minutes_left: int | None
    fate: Fate


def job_fates(
    scheduler: Scheduler, risks: Iterable[Risk], *, loses_queue: bool, now: datetime
) -> Iterator[JobFate]:
    """Yield the jobs that are not over.

    Args:
        scheduler: what runs them.
        risks: of the change.
        loses_queue: the change replaces or removes what holds the jobs that wait.
        now: the time.
    """
    spared = spared_minutes(risks)
    for listed in scheduler.jobs(unfinished=True):
        job = scheduler.job(listed.job_id)
        if job is None or job.state.is_over:
            continue
        left = minutes_left(job, now)
        if job.state.waits:
            fate = Fate.MAY_END if loses_queue else Fate.WAITS_ON
        elif spared is None or (left is not None and left <= spared):
            fate = Fate.GOES_ON
        else:
            fate = Fate.MAY_END
        yield JobFate(
            job_id=job.job_id,
            name=job.name,
            status=job.status,
            nodes=job.node_count,
            minutes_left=left,
            fate=fate,
        )


def spared_minutes(risks: Iterable[Risk]) -> int | None:
    """Return for how long a change lets jobs run that do; None where it ends none of them."""
    return min(
        (
            risk.spared_minutes
            for risk in risks
            if risk.kind is RiskKind.JOBS_KILLED and risk.spared_minutes is not None
        ),
        default=None,
    )


def minutes_left(job: Job, now: datetime) -> int | None:
    """Return how long an attempt may still take; None where nothing limits it, or none runs."""
    if job.state.waits or job.timeout_seconds is None:
        return None
    begun = job.started_at or now
    return max(0, ceil((job.timeout_seconds - (now - begun).total_seconds()) / 60))
