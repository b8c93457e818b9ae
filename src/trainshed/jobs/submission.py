"""A command that is to run as a job of a cluster."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from trainshed.errors import TrainshedError
from trainshed.jobs.sent_files import SentFiles
from trainshed.nodes.variables import LAUNCHER_SETS, OWN

# AWS Batch API reference, SubmitJob: jobName.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
LAUNCHER = "trainshed-launch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A command to run on some nodes.

    Attributes:
        name: of the job.
        command: on each node, or for the launcher.
        nodes: how many.
        environment: variables, beside those of the job definition.
        files: that go with it, for trainshed-launch to unpack; None for none.
        timeout_seconds: how long one attempt may take; None for that of the job definition.

    Raises:
        TrainshedError: it cannot be called that, or a variable is trainshed's own.
    """

    name: str
    command: tuple[str, ...]
    nodes: int
    environment: Mapping[str, str] = field(default_factory=dict)
    files: SentFiles | None = None
    timeout_seconds: int | None = None

    def __post_init__(self) -> None:
        """Refuse a name that no scheduler takes, and variables that are trainshed's own."""
        if not _NAME.fullmatch(self.name):
            raise TrainshedError(
                f"a job cannot be called {self.name!r}: letters, digits, '-' and '_', at most 128, "
                "the first a letter or a digit"
            )
        reserved = {**OWN, **(LAUNCHER_SETS if _is_launched(self.command) else {})}
        for variable in self.environment:
            if why := reserved.get(variable):
                raise TrainshedError(f"variable {variable}: {why}")


def job_name(ready_job: str) -> str:
    """Return what the jobs of a ready job are called: a job's name has no dot."""
    return ready_job.replace(".", "-")


def launched(command: tuple[str, ...]) -> tuple[str, ...]:
    """Put the launcher in front of a command that does not begin with it."""
    return command if _is_launched(command) else (LAUNCHER, *command)


def _is_launched(command: tuple[str, ...]) -> bool:
    return any(PurePath(program).name == LAUNCHER for program in command[:1])
