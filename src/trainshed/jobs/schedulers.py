"""What runs jobs: one place for what differs."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from trainshed.aws import Region
from trainshed.jobs import batch, run_command
from trainshed.jobs.model import Job, ListedJob, Scheduler


class _Jobs(Protocol):
    """The jobs of a scheduler; a module is one."""

    def describe(self, region: Region, job_id: str) -> Job | None:
        """Return a job by its id, with its nodes; None when there is none."""

    def named(self, region: Region, name: str) -> Iterator[ListedJob]:
        """Yield the jobs of a name."""

    def end(self, region: Region, job: Job, reason: str) -> None:
        """End a job that is not over."""


SCHEDULERS: Mapping[Scheduler, _Jobs] = {
    Scheduler.BATCH: batch,
    Scheduler.RUN_COMMAND: run_command,
}
