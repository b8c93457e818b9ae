"""The jobs that a teardown would end."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.aws import Region
from trainshed.teardown.stacks import DeployedStack

# AWS Batch, JobStatus: those of a job that is not over.
_UNFINISHED = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that would be ended.

    Attributes:
        job_id: its id.
        name: its name.
        status: for instance RUNNING.
    """

    job_id: str
    name: str
    status: str


def unfinished_jobs(region: Region, compute: DeployedStack) -> Iterator[Job]:
    """Name the jobs in the queues of a compute stack that are not over."""
    for queue in compute.ids("AWS::Batch::JobQueue"):
        for status in _UNFINISHED:
            for each in region.pages(
                "batch", "list_jobs", "jobSummaryList", jobQueue=queue, jobStatus=status
            ):
                yield Job(job_id=each["jobId"], name=each["jobName"], status=each["status"])
