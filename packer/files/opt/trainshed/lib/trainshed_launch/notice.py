"""EC2's notice that it takes a node of the job back, and the deadline that follows for the job."""

from __future__ import annotations

import asyncio
import time
from calendar import timegm
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainshed_node.instance import node_path
from trainshed_node.spot import FILE, FOLDER, INTERRUPTION, TIME

# The variable with the path of a file that holds the deadline, once there is one: a process that
# runs gets no new variables.
DEADLINE = "TRAINSHED_DEADLINE"
_LOOK_SECONDS = 1
# Before the node ends, its exit code and last lines must reach the orchestrator.
_SPARED_SECONDS = 10


@dataclass(frozen=True)
class Notice:
    """What EC2 has said of a node.

    Attributes:
        deadline: when the node ends at the earliest, for instance `2026-11-28T06:02:00Z`.
        kind: `interruption`, or `rebalance` for a node that is only likelier to be taken back.
    """

    deadline: str
    kind: str


class Notices:
    """The notices to this node.

    Args:
        environment: of this process.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._file = node_path(environment, f"{FOLDER}/{FILE}")
        # A job goes on on a node that was at risk before.
        self._known = self.last()

    def last(self) -> Notice | None:
        """Return the last notice; None if there is none."""
        try:
            deadline, kind = self._file.read_text(encoding="ascii").split()
            time.strptime(deadline, TIME)
        except (OSError, ValueError):
            return None
        return Notice(deadline, kind)

    def new(self) -> Notice | None:
        """Return a notice that came since this object was made."""
        found = self.last()
        return None if found == self._known else found

    async def wait(self) -> Notice:
        """Wait for a new notice."""
        while (found := self.new()) is None:
            await asyncio.sleep(_LOOK_SECONDS)
        return found


def ends_soon(environment: Mapping[str, str]) -> str:
    """Return when this node ends, if EC2 has announced it; or nothing."""
    notice = Notices(environment).last()
    return notice.deadline if notice and notice.kind == INTERRUPTION else ""


def write_deadline(environment: Mapping[str, str], deadline: str) -> None:
    """Write the deadline where the command can read it."""
    file = Path(environment[DEADLINE])
    unfinished = file.with_name(f".{file.name}")
    unfinished.write_text(f"{deadline}\n", encoding="ascii")
    unfinished.replace(file)


def seconds_left(deadline: str) -> float:
    """Return how long a command may take to end before a deadline."""
    return max(0.0, timegm(time.strptime(deadline, TIME)) - time.time() - _SPARED_SECONDS)
