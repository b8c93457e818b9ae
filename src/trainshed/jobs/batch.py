"""Jobs of AWS Batch."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.described_job import node_count, read_job, reason_of
from trainshed.jobs.model import OVER, STARTED, WAITING, Job, ListedJob
from trainshed.jobs.sent_files import VARIABLE, SentFiles
from trainshed.jobs.submission import Submission

# AWS Batch API reference, DescribeJobs: "A list of up to 100 job IDs".
_DESCRIBED_AT_ONCE = 100
_SHORTEST_SECONDS = 60
# The one group of nodes of our job definitions; an override has to name it as it stands there.
_ALL_NODES = "0:"
# What RegisterJobDefinition takes of what DescribeJobDefinitions returns.
_REGISTERED = (
    *("type", "nodeProperties", "parameters", "platformCapabilities", "propagateTags"),
    *("retryStrategy", "schedulingPriority", "timeout"),
)
_LONGEST_NAME = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDestination:
    """Where the jobs of a cluster of AWS Batch go.

    Attributes:
        queue: ARN of its job queue.
        definition: ARN of its job definition, with the revision.
    """

    queue: str
    definition: str

    def submit(self, region: Region, submission: Submission) -> str:
        """Submit a job; return its id.

        Raises:
            TrainshedError: AWS Batch would refuse it.
        """
        _check(submission)
        limit = submission.timeout_seconds
        definition = self.definition
        if submission.files:
            definition = _register_with_files(region, definition, submission.files)
        answer = region.call(
            "batch",
            "submit_job",
            jobName=submission.name,
            jobQueue=self.queue,
            jobDefinition=definition,
            nodeOverrides={
                "numNodes": submission.nodes,
                "nodePropertyOverrides": [
                    {
                        "targetNodes": _ALL_NODES,
                        "containerOverrides": {
                            "command": list(submission.command),
                            "environment": [
                                {"name": name, "value": value}
                                for name, value in submission.environment.items()
                            ],
                        },
                    }
                ],
            },
            **({} if limit is None else {"timeout": {"attemptDurationSeconds": limit}}),
        )
        return str(answer["jobId"])

    def jobs(self, region: Region) -> list[ListedJob]:
        """Return its jobs, the newest first; AWS Batch forgets those that are over after days."""
        return _list(region, self.queue, (*WAITING, *STARTED, *OVER))

    def most_nodes(self, region: Region) -> int:
        """Return how many nodes its jobs may have."""
        return int(node_properties(region, self.definition)["numNodes"])


def _check(submission: Submission) -> None:
    """Refuse what AWS Batch would refuse.

    Its API reference, JobTimeout; its user guide, "AWS Batch job environment variables".
    """
    for name in submission.environment:
        if name.startswith("AWS_BATCH"):
            raise TrainshedError(
                f"variable {name}: names that begin with AWS_BATCH are AWS Batch's own; rename it"
            )
    limit = submission.timeout_seconds
    if limit is not None and limit < _SHORTEST_SECONDS:
        raise TrainshedError(
            f"a time-out of {limit} seconds is too short; AWS Batch takes {_SHORTEST_SECONDS} or "
            "more"
        )


def node_properties(region: Region, definition: str) -> Mapping[str, Any]:
    """Return the nodes of a multi-node job definition, by its ARN."""
    found: Mapping[str, Any] = _described_definition(region, definition)["nodeProperties"]
    return found


def _described_definition(region: Region, definition: str) -> Mapping[str, Any]:
    answer = region.call("batch", "describe_job_definitions", jobDefinitions=[definition])
    found: Mapping[str, Any] = answer["jobDefinitions"][0]
    return found


def _register_with_files(region: Region, definition: str, files: SentFiles) -> str:
    """Register a job definition like another one, with files; return its ARN.

    The submission itself could not bring them: what it changes of a container may have 8192
    characters (ECS API reference, RunTask: overrides).
    """
    own = _described_definition(region, definition)
    variable = {"name": VARIABLE, "value": files.archive}
    nodes = {
        **own["nodeProperties"],
        "nodeRangeProperties": [
            {**group, "container": _with_variable(group["container"], variable)}
            for group in own["nodeProperties"]["nodeRangeProperties"]
        ],
    }
    copied = {name: own[name] for name in _REGISTERED if name in own} | {"nodeProperties": nodes}
    # AWS's own tags cannot be given.
    tags = {name: text for name, text in own.get("tags", {}).items() if name[:4] != "aws:"}
    answer = region.call(
        "batch",
        "register_job_definition",
        jobDefinitionName=_name_with_files(own["jobDefinitionName"]),
        **copied,
        **({"tags": tags} if tags else {}),
    )
    return str(answer["jobDefinitionArn"])


def _with_variable(container: Mapping[str, Any], variable: Mapping[str, str]) -> dict[str, Any]:
    return {**container, "environment": [*container.get("environment", ()), variable]}


def _name_with_files(definition: str) -> str:
    ending = "-with-files"
    return definition[: _LONGEST_NAME - len(ending)] + ending


def deregister_with_files(region: Region, definition: str) -> None:
    """Deregister the job definitions that submissions with files have made of one.

    Jobs may still need them as long as the queue is there.

    Args:
        region: where it is.
        definition: its ARN.
    """
    name = definition.rpartition("/")[2].partition(":")[0]
    for made in region.pages(
        "batch",
        "describe_job_definitions",
        "jobDefinitions",
        jobDefinitionName=_name_with_files(name),
        status="ACTIVE",
    ):
        region.call("batch", "deregister_job_definition", jobDefinition=made["jobDefinitionArn"])


def unfinished_jobs(region: Region, queue: str) -> list[ListedJob]:
    """Return the jobs of a queue that are not over, the newest first."""
    return _list(region, queue, (*WAITING, *STARTED))


def describe(region: Region, job_id: str) -> Job | None:
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


def named(region: Region, name: str) -> Iterator[ListedJob]:
    """Yield the jobs of a name, in any queue."""
    # AWS Batch matches a name in any case, and its beginning when it ends with an asterisk.
    asked = {"name": "JOB_NAME", "values": [name]}
    for queue in region.pages("batch", "describe_job_queues", "jobQueues"):
        for each in region.pages(
            "batch",
            "list_jobs",
            "jobSummaryList",
            jobQueue=queue["jobQueueArn"],
            filters=[asked],
        ):
            if each["jobName"] == name:
                yield _listed(each)


def end(region: Region, job: Job, reason: str) -> None:
    """End a job; running containers get SIGTERM.

    TerminateJob alone does both, by AWS Batch's API reference: "Jobs that have not progressed to
    the STARTING state are cancelled."

    Args:
        region: where it is.
        job: the job.
        reason: its statusReason from then on.
    """
    region.call("batch", "terminate_job", jobId=job.job_id, reason=reason)


def _list(region: Region, queue: str, statuses: Iterable[str]) -> list[ListedJob]:
    found = [
        _listed(each)
        for status in statuses
        for each in region.pages(
            "batch", "list_jobs", "jobSummaryList", jobQueue=queue, jobStatus=status
        )
    ]
    return sorted(found, key=lambda job: job.created_at, reverse=True)


def _describe(region: Region, ids: list[str]) -> list[dict[str, Any]]:
    found = []
    for start in range(0, len(ids), _DESCRIBED_AT_ONCE):
        some = ids[start : start + _DESCRIBED_AT_ONCE]
        found += region.call("batch", "describe_jobs", jobs=some)["jobs"]
    # Not in the order in which they were asked for.
    return sorted(found, key=lambda each: each.get("nodeDetails", {}).get("nodeIndex", 0))


def _listed(summary: dict[str, Any]) -> ListedJob:
    return ListedJob(
        job_id=summary["jobId"],
        name=summary["jobName"],
        status=summary["status"],
        reason=reason_of(summary),
        nodes=node_count(summary),
        created_at=datetime.fromtimestamp(summary["createdAt"] / 1000, UTC),
    )
