"""What an orchestrator says of the nodes of a cluster."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStates:
    """What an orchestrator says of the nodes of a cluster.

    Attributes:
        wanted: how many it wants to be there now; None when it does not say.
        reached: ids of the instances on which it can start jobs; None when it does not say.
        drained: ids of those that take no more jobs because somebody wants that.
        problems: why it launches no nodes, or what is wrong with them, in words.
        disabled: that somebody has turned off what launches them, in words.
    """

    wanted: int | None
    reached: Collection[str] | None
    drained: Collection[str] = ()
    problems: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
