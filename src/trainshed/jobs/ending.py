"""End a job before its time."""

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.model import Job
from trainshed.jobs.schedulers import SCHEDULERS


def end_job(region: Region, job: Job, reason: str) -> None:
    """End a job, whatever state it is in; what runs gets SIGTERM.

    Args:
        region: where it is.
        job: the job.
        reason: why, for AWS Batch, which keeps it with the job.

    Raises:
        Failure: it is over.
    """
    if job.is_over:
        raise Failure(f"job {job.job_id} is over: it has {job.status}")
    SCHEDULERS[job.scheduler].end(region, job, reason)
