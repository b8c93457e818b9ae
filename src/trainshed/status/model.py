"""How a cluster is at one time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from trainshed.account.capacity_reservations import OVER
from trainshed.cost import Total
from trainshed.guard.outputs import Stopped


class Health(StrEnum):
    """How a node is.

    BOOTING does not take jobs yet; RUNNING does; UNREACHABLE should, and what starts jobs does not
    reach it; DRAINED takes no more because somebody wants that; FAILED the checks of its first
    boot, or those while it had no job, and powers off; ENDING is on its way out.
    """

    BOOTING = "booting"
    RUNNING = "running"
    UNREACHABLE = "unreachable"
    DRAINED = "drained"
    FAILED = "failed"
    ENDING = "ending"


MISSING = "missing"
"""State of what the cluster file or a stack names, and its service does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStatus:
    """A node.

    Attributes:
        instance_id: of its instance.
        instance_type: of its instance.
        health: how it is.
        reason: why it is so, where something says it.
        launched_at: when it was launched.
    """

    instance_id: str
    instance_type: str
    health: Health
    reason: str
    launched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedBoot:
    """Nodes that have ended because they failed their checks, all for one reason.

    Attributes:
        reason: what the node said.
        instance_ids: of the nodes, as far as EC2 still shows them.
    """

    reason: str
    instance_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesStatus:
    """The nodes.

    Attributes:
        wanted: how many the orchestrator wants now; None when it does not say.
        most: how many there are at most.
        nodes: those that are there, the oldest first.
        failed_boots: those that have ended because they failed their checks, by reason.
    """

    wanted: int | None
    most: int
    nodes: tuple[NodeStatus, ...]
    failed_boots: tuple[FailedBoot, ...]

    @property
    def counts(self) -> Mapping[Health, int]:
        """How many there are of each health."""
        found = (each.health for each in self.nodes)
        counts = dict.fromkeys(Health, 0)
        for each in found:
            counts[each] += 1
        return {health: count for health, count in counts.items() if count}


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageStatus:
    """Shared storage.

    Attributes:
        kind: lustre, efs, openzfs or bucket.
        name: id of the file system, or name of the bucket.
        state: as its service calls it, for instance AVAILABLE; MISSING when there is none.
        capacity_gib: its size; None where it grows by itself.
        used_gib: how much of it is used; None when nothing says that.
    """

    kind: str
    name: str
    state: str
    capacity_gib: float | None
    used_gib: float | None

    @property
    def used_percent(self) -> float | None:
        """How full it is; None when nothing says that."""
        if not self.capacity_gib or self.used_gib is None:
            return None
        return 100 * self.used_gib / self.capacity_gib


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStatus:
    """When the nodes' reservation or Capacity Block is there.

    Attributes:
        reservation_id: the `cr-...`.
        is_block: it is a Capacity Block.
        state: as EC2 calls it, for instance active; MISSING when there is none; None for a window
            of a calendar, which EC2 is not asked for.
        begins_at: when it begins; None when it has always been there.
        ends_at: when nodes have to be gone; None when they need not.
    """

    reservation_id: str
    is_block: bool
    state: str | None
    begins_at: datetime | None
    ends_at: datetime | None

    @property
    def is_lost(self) -> bool:
        """No node can be launched into it any more."""
        return self.state in (*OVER, MISSING)

    def __str__(self) -> str:
        """Say what it is, and its id."""
        return f"{'Capacity Block' if self.is_block else 'reservation'} {self.reservation_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmStatus:
    """An alarm of CloudWatch that is in the state ALARM.

    Attributes:
        name: its name.
        reason: CloudWatch's.
        since: when it went there.
    """

    name: str
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """How a cluster is.

    Attributes:
        cluster: its name.
        region: AWS region.
        orchestrator: what starts its jobs, as it is deployed.
        at: when it was looked at.
        stacks: the state of each, by name; None for one that is not there.
        nodes: the nodes; None while the cluster's stack is not deployed.
        jobs: how many jobs there are by their state, in the words of the service that runs them;
            None when that is not known.
        storages: what the nodes share.
        windows: the reservations or Capacity Blocks that are there now, and the next one.
        alarms: how many alarms there are; None when that is not known.
        in_alarm: those in the state ALARM.
        dashboard: URL of its dashboard; empty without one.
        cost_per_hour: what all of it costs in an hour now; None when its nodes are not known.
        stopped: why its guard has stopped its nodes; None when it has not.
        problems: what is wrong, in words.
        unknown: what could not be looked at, in words.
    """

    cluster: str
    region: str
    orchestrator: str
    at: datetime
    stacks: Mapping[str, str | None]
    nodes: NodesStatus | None
    jobs: Mapping[str, int] | None
    storages: tuple[StorageStatus, ...]
    windows: tuple[WindowStatus, ...]
    alarms: int | None
    in_alarm: tuple[AlarmStatus, ...]
    dashboard: str
    cost_per_hour: Total | None
    stopped: Stopped | None
    problems: tuple[str, ...]
    unknown: tuple[str, ...]
