"""Find jobs, whatever runs them."""

from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.model import Job
from trainshed.jobs.schedulers import SCHEDULERS
from trainshed.jobs.submission import job_name


def find_job(region: Region, job: str) -> Job:
    """Return a job.

    Args:
        region: where it is.
        job: its id, its name, or that of the recipe that made it: the newest job of that name.

    Raises:
        TrainshedError: there is none.
    """
    # One after the other: who uses AWS Batch alone needs no permissions for the other.
    for scheduler in SCHEDULERS.values():
        found = scheduler.describe(region, job)
        if found is None and (named := list(scheduler.named(region, job_name(job)))):
            newest = max(named, key=lambda each: each.created_at)
            found = scheduler.describe(region, newest.job_id)
        if found:
            return found
    raise TrainshedError(
        f"no job has the id or the name {job!r} in {region.name}; AWS forgets jobs some days after "
        "their end: trainshed job list CLUSTER shows those that it knows"
    )
