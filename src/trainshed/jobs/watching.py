"""Follow a job to its end."""

from collections.abc import Callable, Iterator

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.model import Job
from trainshed.jobs.schedulers import SCHEDULERS

# AWS Batch slows down accounts that ask often, also for others' calls: a job that does not change
# is asked for less and less often.
_SHORTEST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 10.0
_LONGER = 1.5


def watch(region: Region, job: Job, pause: Callable[[float], None]) -> Iterator[Job]:
    """Yield a job as it is now, and again and again until it is over.

    Args:
        region: where it is.
        job: as it was found.
        pause: waits so many seconds between two looks.

    Raises:
        Failure: it is forgotten.
    """
    seconds = _SHORTEST_PAUSE_SECONDS
    yield job
    while not job.is_over:
        pause(seconds)
        before, found = job, SCHEDULERS[job.scheduler].describe(region, job.job_id)
        if found is None:
            raise Failure(f"{job.scheduler} no longer knows job {job.job_id}")
        job = found
        unchanged = job == before
        seconds = (
            min(seconds * _LONGER, _LONGEST_PAUSE_SECONDS) if unchanged else _SHORTEST_PAUSE_SECONDS
        )
        yield job
