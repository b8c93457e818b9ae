"""EC2's notice that it takes a node of the job back, and the deadline that follows for the job."""

from __future__ import annotations

import asyncio
import time
from calendar import timegm
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainshed_launch.log import log
from trainshed_node.instance import node_path
from trainshed_node.spot import FILE, FOLDER, INTERRUPTION, NOTICE, TIME

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

    def last(self) -> Notice | None:
        """Return the last notice; None if there is none."""
        try:
            deadline, kind = self._file.read_text(encoding="ascii").split()
            time.strptime(deadline, TIME)
        except (OSError, ValueError):
            return None
        return Notice(deadline, kind)

    async def wait(self, at_risk: Callable[[], None]) -> Notice:
        """Wait until EC2 takes this node back; until then, it may be at risk.

        A node at risk may never be taken back, and the job would begin anew on the same nodes.

        Args:
            at_risk: is called once when it is.
        """
        told = False
        while (found := self.last()) is None or found.kind != INTERRUPTION:
            if found and not told:
                at_risk()
                told = True
            await asyncio.sleep(_LOOK_SECONDS)
        return found

    def of_signal(self, *, drained: bool) -> Notice | None:
        """Return the notice for which this node is asked to end; None if it is another reason.

        Who drains a node may be faster than those who wait for the notice.

        Args:
            drained: nodes at risk are drained, once there are others. The pods of jobs on Spot have
                as long as after a notice then.
        """
        found = self.last()
        if found and found.kind != INTERRUPTION:
            end = time.strftime(TIME, time.gmtime(time.time() + NOTICE.total_seconds()))
            return replace(found, deadline=end) if drained else None
        return found


def say_at_risk(node: str) -> None:
    """Say in the log that EC2 may take a node back."""
    log(f"EC2 may take {node} back (a rebalance recommendation); the job goes on")


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
