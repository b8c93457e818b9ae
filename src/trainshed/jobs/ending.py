"""End a job before its time."""

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.model import Job


def end_job(region: Region, job: Job, reason: str) -> None:
    """End a job, whatever state it is in; running containers get SIGTERM.

    TerminateJob alone does both, by AWS Batch's API reference: "Jobs that have not progressed to
    the STARTING state are cancelled."

    Args:
        region: where it is.
        job: the job.
        reason: its statusReason from then on.

    Raises:
        Failure: it is over.
    """
    if job.is_over:
        raise Failure(f"job {job.job_id} is over: it has {job.status}")
    region.call("batch", "terminate_job", jobId=job.job_id, reason=reason)
