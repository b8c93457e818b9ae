"""Follow a job to its end."""

from collections.abc import Callable, Iterator

from trainshed.errors import Failure
from trainshed.jobs.model import Job
from trainshed.jobs.scheduler import Scheduler

# AWS slows down accounts that ask often, also for others' calls: a job that does not change
# is asked for less and less often.
_SHORTEST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 10.0
_LONGER = 1.5


def watch(scheduler: Scheduler, job: Job, pause: Callable[[float], None]) -> Iterator[Job]:
    """Yield a job as it is now, and again and again until it is over.

    Args:
        scheduler: what runs it.
        job: as it was found.
        pause: waits so many seconds between two looks.

    Raises:
        Failure: it is forgotten.
    """
    seconds = _SHORTEST_PAUSE_SECONDS
    yield job
    while not job.state.is_over:
        pause(seconds)
        before, found = job, scheduler.job(job.job_id)
        if found is None:
            raise Failure(f"{scheduler.service} no longer knows job {job.job_id}")
        job = found
        unchanged = job == before
        seconds = (
            min(seconds * _LONGER, _LONGEST_PAUSE_SECONDS) if unchanged else _SHORTEST_PAUSE_SECONDS
        )
        yield job
