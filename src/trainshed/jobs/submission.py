"""Submit a command as a job of a cluster."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.destination import Destination

# AWS Batch API reference, SubmitJob: jobName; JobTimeout: attemptDurationSeconds.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_SHORTEST_SECONDS = 60
# The one group of nodes of our job definitions; an override has to name it as it stands there.
_ALL_NODES = "0:"
LAUNCHER = "trainshed-launch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A command to run on some nodes.

    Attributes:
        name: of the job.
        command: on each node, or for the launcher.
        nodes: how many.
        environment: variables, beside those of the job definition.
        timeout_seconds: how long one attempt may take; None for that of the job definition.

    Raises:
        TrainshedError: AWS Batch would refuse it.
    """

    name: str
    command: tuple[str, ...]
    nodes: int
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: int | None = None

    def __post_init__(self) -> None:
        """Refuse what AWS Batch would refuse."""
        if not _NAME.fullmatch(self.name):
            raise TrainshedError(
                f"a job cannot be called {self.name!r}: letters, digits, '-' and '_', at most 128, "
                "the first a letter or a digit"
            )
        for name in self.environment:
            # AWS Batch user guide, "AWS Batch job environment variables".
            if name.startswith("AWS_BATCH"):
                raise TrainshedError(
                    f"variable {name}: names that begin with AWS_BATCH are AWS Batch's own; "
                    "rename it"
                )
        if self.timeout_seconds is not None and self.timeout_seconds < _SHORTEST_SECONDS:
            raise TrainshedError(
                f"a time-out of {self.timeout_seconds} seconds is too short; AWS Batch takes "
                f"{_SHORTEST_SECONDS} or more"
            )


def launched(command: tuple[str, ...]) -> tuple[str, ...]:
    """Put the launcher in front of a command that does not begin with it."""
    return command if PurePath(command[0]).name == LAUNCHER else (LAUNCHER, *command)


def submit(region: Region, destination: Destination, submission: Submission) -> str:
    """Submit a job; return its id."""
    limit = submission.timeout_seconds
    answer = region.call(
        "batch",
        "submit_job",
        jobName=submission.name,
        jobQueue=destination.queue,
        jobDefinition=destination.definition,
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
