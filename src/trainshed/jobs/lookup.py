"""Find jobs in AWS Batch."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.model import OVER, STARTED, WAITING, Job, node_count, read_job, reason_of

# AWS Batch API reference, DescribeJobs: "A list of up to 100 job IDs".
_DESCRIBED_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJob:
    """A job of a queue.

    Attributes:
        job_id: its id.
        name: its name.
        status: for instance RUNNING.
        reason: as that of `Job`.
        nodes: how many it has.
        created_at: when it was submitted.
    """

    job_id: str
    name: str
    status: str
    reason: str | None
    nodes: int
    created_at: datetime


def list_jobs(region: Region, queue: str, statuses: Iterable[str]) -> list[ListedJob]:
    """Return the jobs of a queue in some states, the newest first.

    AWS Batch forgets those that are over after some days.
    """
    found = [
        _listed(each)
        for status in statuses
        for each in region.pages(
            "batch", "list_jobs", "jobSummaryList", jobQueue=queue, jobStatus=status
        )
    ]
    return sorted(found, key=lambda job: job.created_at, reverse=True)


def unfinished_jobs(region: Region, queue: str) -> list[ListedJob]:
    """Return the jobs of a queue that are not over, the newest first."""
    return list_jobs(region, queue, (*WAITING, *STARTED))


def all_jobs(region: Region, queue: str) -> list[ListedJob]:
    """Return the jobs of a queue, the newest first."""
    return list_jobs(region, queue, (*WAITING, *STARTED, *OVER))


def find_job(region: Region, job: str) -> Job:
    """Return a job.

    Args:
        region: where it is.
        job: its id, or its name: the newest job of that name in any queue.

    Raises:
        TrainshedError: there is none.
    """
    found = describe_job(region, job)
    if found is None and (named := list(_named(region, job))):
        newest = max(named, key=lambda each: each.created_at)
        found = describe_job(region, newest.job_id)
    if found is None:
        raise TrainshedError(
            f"no job has the id or the name {job!r} in {region.name}; AWS Batch forgets jobs some "
            "days after their end: trainshed job list CLUSTER shows those that it knows"
        )
    return found


def describe_job(region: Region, job_id: str) -> Job | None:
    """Return a job by its id, with its nodes; None when there is none."""
    found = _describe(region, [job_id])
    if not found:
        return None
    [described] = found
    nodes: list[dict[str, Any]] = []
    if "nodeProperties" in described:
        # AWS Batch user guide, "Multi-node parallel jobs": nodes are described as ID#N.
        ids = [f"{described['jobId']}#{index}" for index in range(node_count(described))]
        nodes = _describe(region, ids)
    return read_job(described, nodes)


def _describe(region: Region, ids: list[str]) -> list[dict[str, Any]]:
    found = []
    for start in range(0, len(ids), _DESCRIBED_AT_ONCE):
        some = ids[start : start + _DESCRIBED_AT_ONCE]
        found += region.call("batch", "describe_jobs", jobs=some)["jobs"]
    # Not in the order in which they were asked for.
    return sorted(found, key=lambda each: each.get("nodeDetails", {}).get("nodeIndex", 0))


def _named(region: Region, name: str) -> Iterator[ListedJob]:
    # AWS Batch matches a name in any case, and its beginning when it ends with an asterisk.
    named = {"name": "JOB_NAME", "values": [name]}
    for queue in region.pages("batch", "describe_job_queues", "jobQueues"):
        for each in region.pages(
            "batch",
            "list_jobs",
            "jobSummaryList",
            jobQueue=queue["jobQueueArn"],
            filters=[named],
        ):
            if each["jobName"] == name:
                yield _listed(each)


def _listed(summary: dict[str, Any]) -> ListedJob:
    return ListedJob(
        job_id=summary["jobId"],
        name=summary["jobName"],
        status=summary["status"],
        reason=reason_of(summary),
        nodes=node_count(summary),
        created_at=datetime.fromtimestamp(summary["createdAt"] / 1000, UTC),
    )
