"""Submit a job to a deployed cluster, and follow it to its end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import Any

_OVER = ("SUCCEEDED", "FAILED")
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalJob:
    """A job to run on a cluster.

    Attributes:
        queue: ARN of the cluster's job queue.
        definition: ARN of its job definition.
        nodes: how many.
        command: of every node.
    """

    queue: str
    definition: str
    nodes: int
    command: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAttempt:
    """How a node ended in an attempt.

    Attributes:
        address: its private address.
        exit_code: of its container; None when it has none.
        reason: of the container, or else of the attempt.
    """

    address: str
    exit_code: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of a job, as it is at the moment.

    Attributes:
        status: for instance RUNNING.
        attempts: that have ended.
    """

    status: str
    attempts: Sequence[NodeAttempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What has become of a job since the look before.

    Attributes:
        status: of the job.
        reason: its statusReason.
        attempts: that have ended.
        exit_code: of the last of them.
        nodes: by index.
        lines: that the main node has printed since.
    """

    status: str
    reason: str
    attempts: int
    exit_code: int | None
    nodes: Sequence[Node]
    lines: Sequence[str]

    @property
    def is_over(self) -> bool:
        """The job has ended."""
        return self.status in _OVER


def job_definition(batch: Any, arn: str) -> Mapping[str, Any]:
    """Return a job definition's first container and its range of nodes."""
    [found] = batch.describe_job_definitions(jobDefinitions=[arn])["jobDefinitions"]
    group: Mapping[str, Any] = found["nodeProperties"]["nodeRangeProperties"][0]
    return group


def submit(batch: Any, submission: RehearsalJob) -> str:
    """Submit a multi-node job; return its id."""
    target = job_definition(batch, submission.definition)["targetNodes"]
    submitted = batch.submit_job(
        jobName="rehearsal",
        jobQueue=submission.queue,
        jobDefinition=submission.definition,
        nodeOverrides={
            "numNodes": submission.nodes,
            "nodePropertyOverrides": [
                {
                    "targetNodes": target,
                    "containerOverrides": {"command": list(submission.command)},
                }
            ],
        },
    )
    return str(submitted["jobId"])


@dataclass(slots=True, kw_only=True)
class _Log:
    """Where reading the log of a main node stands."""

    read: dict[str, str] = field(default_factory=dict)

    def new_lines(self, logs: Any, group: str, stream: str) -> Iterator[str]:
        token = self.read.get(stream)
        reply = logs.get_log_events(
            logGroupName=group,
            logStreamName=stream,
            startFromHead=True,
            **({"nextToken": token} if token else {}),
        )
        self.read[stream] = reply["nextForwardToken"]
        for event in reply["events"]:
            yield event["message"]


def follow(client: Callable[[str], Any], job: str, nodes: int) -> Iterator[Look]:
    """Look at a job again and again, to its end.

    Args:
        client: gives a boto3 client of a service.
        job: its id.
        nodes: how many it has.
    """
    batch, logs, log = client("batch"), client("logs"), _Log()
    ids = [job, *(f"{job}#{index}" for index in range(nodes))]
    while True:
        found = {
            each["jobId"]: each
            for first in range(0, len(ids), 100)
            for each in batch.describe_jobs(jobs=ids[first : first + 100])["jobs"]
        }
        whole, *rows = (found[each] for each in ids)
        main = next(row for row in rows if row["nodeDetails"]["isMainNode"])
        attempt = whole["attempts"][-1] if whole["attempts"] else {}
        look = Look(
            status=whole["status"],
            reason=whole.get("statusReason", ""),
            attempts=len(whole["attempts"]),
            exit_code=attempt.get("container", {}).get("exitCode"),
            nodes=[_node(row) for row in rows],
            lines=list(_lines(logs, log, main)),
        )
        yield look
        if look.is_over:
            return
        sleep(_LOOK_SECONDS)


def _node(row: Mapping[str, Any]) -> Node:
    return Node(status=row["status"], attempts=[_attempt(each) for each in row["attempts"]])


def _attempt(described: Mapping[str, Any]) -> NodeAttempt:
    container = described["container"]
    return NodeAttempt(
        address=container["networkInterfaces"][0]["privateIpv4Address"],
        exit_code=container.get("exitCode"),
        reason=container.get("reason") or described["statusReason"],
    )


def _lines(logs: Any, log: _Log, main: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the main node has printed since, of an attempt that is over, too."""
    container = main.get("container", {})
    options = container.get("logConfiguration", {}).get("options", {})
    group = options.get("awslogs-group", "/aws/batch/job")
    ended = [attempt["container"] for attempt in main["attempts"]]
    streams = [each["logStreamName"] for each in [*ended, container] if "logStreamName" in each]
    for stream in dict.fromkeys(streams):
        yield from log.new_lines(logs, group, stream)
