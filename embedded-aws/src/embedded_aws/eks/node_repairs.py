"""Node repair: EKS replaces the nodes of groups that ask for it, by what their conditions say.

EKS user guide, "Automatically repair nodes in EKS clusters" and "Detect node health issues with the
EKS node monitoring agent": the conditions that the agent sets, after how long EKS acts and what it
does, by condition and reason; the limits of unhealthy nodes and of repairs at a time; what
`nodeRepairConfigOverrides` change. "Managed node groups": EKS drains what it terminates. Inferred:
a node is cordoned when its repair begins, not when its check fails; one that is not drained after
15 minutes is replaced all the same; a reason of AcceleratedHardwareReady that is in no table has no
repair, while any reason of the other conditions is replaced. Nothing of the agent runs here:
whoever plays it writes the condition. Left out: the condition `Ready`, whose half hour is seconds
here while a kubelet's start is not shortened, and reboots.
"""

import re
import time
from collections.abc import Callable, Mapping

from embedded_aws.actions import Call, Row
from embedded_aws.clock import seconds_here
from embedded_aws.eks.drains import drain_first
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.nodegroup_resources import end_node
from embedded_aws.kubernetes.client import ApiClient

_NODES = "/api/v1/nodes"
_ACCELERATOR = "AcceleratedHardwareReady"
# Minutes after which EKS acts.
_MINUTES = {
    _ACCELERATOR: 10,
    "ContainerRuntimeReady": 30,
    "KernelReady": 30,
    "NetworkingReady": 30,
    "StorageReady": 30,
}
_REPLACE, _NONE = "Replace", "NoAction"
_REPLACED = re.compile(
    r"Neuron(DMA|HBMUncorrectable|NCUncorrectable|SRAMUncorrectable)Error"
    r"|Nvidia(DoubleBit|NVLink|XID(74|79|119|120|121|140))Error"
)
# Without a limit of the group's own: none in groups of up to five nodes.
_SMALL_GROUP, _USUAL_PERCENTAGE = 5, 20


class NodeRepairs:
    """Repairs the nodes of one cluster.

    Args:
        call: in whose account and region.
        cluster: it.
        kubernetes: an administrator's client of its API server.
    """

    def __init__(self, call: Call, cluster: Row, kubernetes: ApiClient) -> None:
        self._call = call
        self._cluster = cluster
        self._kubernetes = kubernetes
        # Since when a node has had a condition, by instance, condition and reason.
        self._since: dict[tuple[str, str, str], float] = {}
        self._repaired: set[str] = set()

    def look(self, machines: Mapping[str, Machine]) -> None:
        """Begin the repairs that are due of these nodes, by instance.

        Raises:
            ApiRefusal: the API server refuses; an OSError says that it does not answer.
        """
        repaired = {
            machine.group["nodegroupArn"]: machine.group
            for machine in machines.values()
            if machine.group.get("nodeRepairConfig", {}).get("enabled")
        }
        self._repaired &= machines.keys()
        if not repaired:
            return
        found = self._kubernetes.call("GET", _NODES)["items"]
        by_name = {each["metadata"]["name"]: each for each in found}
        for arn, group in repaired.items():
            nodes = {
                instance_id: by_name.get(machine.instance.private_dns_name, {})
                for instance_id, machine in machines.items()
                if machine.group["nodegroupArn"] == arn
            }
            self._look_at_group(group["nodeRepairConfig"], nodes)

    def _look_at_group(self, config: Row, nodes: Mapping[str, Row]) -> None:
        now = time.monotonic()
        unhealthy = {each: found for each, node in nodes.items() if (found := _unhealthy(node))}
        known = {(each, *found) for each, of_one in unhealthy.items() for found in of_one}
        for old in [each for each in self._since if each[0] in nodes and each not in known]:
            del self._since[old]
        for new in known:
            self._since.setdefault(new, now)
        if _are_too_many(config, len(unhealthy), len(nodes)):
            return
        free = _at_a_time(config, len(unhealthy)) - len(self._repaired & nodes.keys())
        for instance_id, conditions in unhealthy.items():
            due = any(
                action == _REPLACE and now - self._since[instance_id, kind, reason] >= seconds
                for kind, reason in conditions
                for action, seconds in (_repair(config, kind, reason),)
            )
            if due and instance_id not in self._repaired and free > 0:
                free -= 1
                self._repaired.add(instance_id)
                drain_first(self._cluster, instance_id, self._replacing(instance_id))

    def _replacing(self, instance_id: str) -> Callable[[bool], None]:
        """Return what replaces a node that is drained, or is not in time."""

        def replace(_: bool) -> None:
            end_node(self._call, instance_id, shrinks=False)

        return replace


def _unhealthy(node: Row) -> list[tuple[str, str]]:
    """Return the conditions by which a node is unhealthy, each with its reason."""
    return [
        (each["type"], each.get("reason", ""))
        for each in node.get("status", {}).get("conditions", [])
        if each["type"] in _MINUTES and each["status"] == "False"
    ]


def _repair(config: Row, kind: str, reason: str) -> tuple[str, float]:
    """Return what EKS does about a condition, and after how many seconds here."""
    for override in config.get("nodeRepairConfigOverrides", []):
        named = override["nodeMonitoringCondition"], override["nodeUnhealthyReason"]
        if named == (kind, reason):
            seconds = override["minRepairWaitTimeMins"] * 60
            return override["repairAction"], seconds_here(seconds)
    known = kind != _ACCELERATOR or _REPLACED.fullmatch(reason)
    return _REPLACE if known else _NONE, seconds_here(_MINUTES[kind] * 60)


def _are_too_many(config: Row, unhealthy: int, nodes: int) -> bool:
    """Return whether so many nodes are unhealthy that EKS repairs none."""
    if (count := config.get("maxUnhealthyNodeThresholdCount")) is not None:
        return bool(unhealthy > count)
    own = config.get("maxUnhealthyNodeThresholdPercentage")
    if own is None and nodes <= _SMALL_GROUP:
        return False
    most = _USUAL_PERCENTAGE if own is None else own
    return bool(unhealthy * 100 > most * nodes)


def _at_a_time(config: Row, unhealthy: int) -> int:
    """Return how many nodes are repaired at the same time; without a limit, all."""
    if (count := config.get("maxParallelNodesRepairedCount")) is not None:
        return int(count)
    percentage = config.get("maxParallelNodesRepairedPercentage")
    return unhealthy if percentage is None else max(1, unhealthy * int(percentage) // 100)
