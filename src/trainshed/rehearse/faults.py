"""Faults that a rehearsal injects, and what must then be seen.

The part `faults` of an orchestrator has its own: `FAULTS`, `child_processes` for those that hit the
processes of a child, and `job_image` where jobs run in containers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import psutil

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.hosts.network import namespaces_unavailable
from trainshed.errors import TrainshedError
from trainshed.orchestrators import Orchestrator, part


class FaultKind(StrEnum):
    """What goes wrong."""

    LATE_MAIN_NODE = "late-main-node"
    CHILD_NEVER_STARTS = "child-never-starts"
    KILL_CHILD = "kill-child"
    CUT_NETWORK = "cut-network"
    TERMINATE_HOST = "terminate-host"
    INSUFFICIENT_CAPACITY = "insufficient-capacity"
    MISSING_LOG_GROUP = "missing-log-group"
    MISSING_IMAGE = "missing-image"
    MISSING_DEVICE = "missing-device"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """A fault.

    Attributes:
        expected: what must then be seen.
        before: done before the job is submitted.
        during: done to the processes of the child's command, once the main node has printed a
            line.
        wrap: changes the command of every node.
        of_child: it hits a child, which a job of one node has not.
    """

    expected: str
    before: Callable[[EmbeddedAws, Mapping[str, str]], None] | None = None
    during: Callable[[EmbeddedAws, str, Sequence[psutil.Process]], None] | None = None
    wrap: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None
    of_child: bool = False


def all_faults() -> Mapping[FaultKind, Behaviour]:
    """Return the faults of all orchestrators."""
    return {kind: each for name in Orchestrator for kind, each in _faults(name).items()}


def find_fault(kind: FaultKind, orchestrator: Orchestrator, cluster: str) -> Behaviour:
    """Return a fault of a cluster.

    Raises:
        TrainshedError: it is one of another orchestrator.
    """
    found = _faults(orchestrator).get(kind)
    if found is None:
        others = ", ".join(each for each in Orchestrator if kind in _faults(each))
        raise TrainshedError(
            f"--fault {kind}: it is for orchestrator {others}, and {cluster} has orchestrator "
            f"{orchestrator}; leave it out"
        )
    return found


def _faults(orchestrator: Orchestrator) -> Mapping[FaultKind, Behaviour]:
    found: Mapping[FaultKind, Behaviour] = part(orchestrator, "faults").FAULTS
    return found


def check_possible(fault: FaultKind | None, *, loopback: bool, after: str | None = None) -> None:
    """Refuse a fault that this machine cannot have, or not then.

    Raises:
        TrainshedError: it needs network namespaces, or does not happen after a line.
    """
    waiting = [kind for kind, each in all_faults().items() if each.during]
    if after is not None and fault not in waiting:
        raise TrainshedError(f"--fault-after is for the faults {', '.join(waiting)}; leave it out")
    reason = "leave out --loopback" if loopback else namespaces_unavailable()
    if fault is FaultKind.CUT_NETWORK and reason:
        raise TrainshedError(f"{fault} needs nodes with networks of their own: {reason}")
