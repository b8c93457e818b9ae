"""Exchanging the nodes of a group one after the other, where an API server can drain them.

User guide, "Understand each phase of node updates": a node is drained; one that is not empty after
15 minutes ends the update with PodEvictionFailure, unless it is forced; a minute later its Auto
Scaling group is told to terminate it, and launches another. The strategy DEFAULT launches one more
first. Inferred: one node at a time, whatever `updateConfig` says, each once the one before has
been replaced by one that is ready.
"""

from collections.abc import Callable

from embedded_aws.actions import Call, Row
from embedded_aws.eks.calls import later
from embedded_aws.eks.drains import drain_first
from embedded_aws.eks.nodegroup_health import have_arrived, issues_of, nodes_of
from embedded_aws.eks.nodegroup_resources import end_node
from embedded_aws.eks.tables import cluster_of

_CORDONED_SECONDS, _LOOK_SECONDS = 60, 60


class Roll:
    """Exchanges the nodes of a group that launches from another template now.

    Args:
        call: in whose account and region.
        group: the node group.
        wanted: how many nodes it has meanwhile.
        force: nodes that are not empty in time are terminated.
        then: called afterwards, with the update's error or None.
    """

    def __init__(
        self,
        call: Call,
        group: Row,
        *,
        wanted: int,
        force: bool,
        then: Callable[[Row | None], None],
    ) -> None:
        self._call, self._group = call, group
        self._wanted, self._force, self._then = wanted, force, then
        self._cluster = cluster_of(call, group["clusterName"])
        self._old = nodes_of(call, group)[: group["scalingConfig"]["desiredSize"]]

    def go_on(self) -> None:
        """Drain the next node once all are ready, or end."""
        there = nodes_of(self._call, self._group)
        if issues := [
            each
            for each in issues_of(self._call, self._group)
            if each["code"] == "NodeCreationFailure" and each["resourceIds"]
        ]:
            self._then(_error("NodeCreationFailure", issues[0]["message"], there))
        elif len(there) < self._wanted or not have_arrived(self._call, self._group):
            later(_LOOK_SECONDS, self.go_on)
        elif self._old:
            instance_id = self._old.pop(0)
            drain_first(self._cluster, instance_id, lambda drained: self._end(instance_id, drained))
        else:
            self._then(None)

    def _end(self, instance_id: str, drained: bool) -> None:
        if not drained and not self._force:
            said = "Reached max retries while trying to evict pods from nodes in node group"
            name = self._group["nodegroupName"]
            self._then(_error("PodEvictionFailure", f"{said} {name}", [instance_id]))
            return

        def terminate() -> None:
            end_node(self._call, instance_id, shrinks=False)
            self.go_on()

        later(_CORDONED_SECONDS, terminate)


def _error(code: str, message: str, ids: list[str]) -> Row:
    return {"errorCode": code, "errorMessage": message, "resourceIds": ids}
