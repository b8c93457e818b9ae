"""Draining nodes: those on Spot that EC2 takes back, or may, and those that are to be replaced.

EKS user guide, "Managed node groups": a node that EC2 may take back is cordoned and drained once
another one is ready in its place, and at once when EC2 says that it takes it; EKS drains nodes when
it terminates or updates them; where the desired size is reduced, one that is not drained after 15
minutes is terminated all the same. Kubernetes, "Safely drain a node": pods are evicted, but those
of DaemonSets. "API-initiated eviction": what a PodDisruptionBudget forbids now is tried again.
"""

import time
from collections.abc import Callable, Mapping

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.draining import let_go
from embedded_aws.clock import seconds_here
from embedded_aws.ec2.spot_notices import notice_of
from embedded_aws.eks.calls import guard
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.nodegroup_resources import scaling_group_of
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_LONGEST_SECONDS = 900
_PODS_OF = "/api/v1/pods?fieldSelector=spec.nodeName="
_MERGE = "application/merge-patch+json"
# Of an eviction: the pod is gone, its budget forbids it, it has several budgets.
_NOT_NOW = (404, 429, 500)


class Drains:
    """Drains the nodes of one cluster.

    Args:
        call: in whose account and region.
        cluster: it.
        client: an administrator's, of its API server.
    """

    def __init__(self, call: Call, cluster: Row, client: ApiClient) -> None:
        self._call = call
        self._cluster = cluster
        self._client = client
        # Until when the pods of drained nodes may end, by instance.
        self._until: dict[str, float] = {}
        # Filled by whoever replaces a node (`drain_first`).
        cluster["leaving"] = {}

    def look(self, machines: Mapping[str, Machine]) -> None:
        """Drain the nodes that are to go, and let those go that are drained.

        Args:
            machines: of the nodes that there are, by instance.

        Raises:
            ApiRefusal: the API server does not do it.
            OSError: it does not answer.
        """
        leaving: dict[str, list[Callable[[bool], None]]] = self._cluster["leaving"]
        self._forget(machines)
        for instance_id, machine in machines.items():
            notice = notice_of(machine.instance)
            if instance_id in self._until:
                pods = self._pods(machine)
                if pods and time.monotonic() <= self._until[instance_id]:
                    self._evict(pods)
                    continue
                let_go(self._call, scaling_group_of(machine.group), instance_id)
                with guard:
                    asked = leaving.pop(instance_id, [])
                    for then in asked:
                        # It may stay, and be asked for again.
                        self._until.pop(instance_id, None)
                        then(not pods)
            elif (
                notice.terminate
                or instance_id in leaving
                or (notice.rebalance and self._is_one_more(machine, machines))
            ):
                self._cordon(machine)
                self._until[instance_id] = time.monotonic() + seconds_here(_LONGEST_SECONDS)
                self._evict(self._pods(machine))

    def _forget(self, machines: Mapping[str, Machine]) -> None:
        """Forget nodes that went before they were drained."""
        leaving = self._cluster["leaving"]
        for gone in (self._until.keys() | leaving.keys()) - machines.keys():
            self._until.pop(gone, None)
            with guard:
                for then in leaving.pop(gone, []):
                    then(True)

    def _is_one_more(self, machine: Machine, machines: Mapping[str, Machine]) -> bool:
        """Return whether the group of a node has enough that are ready without it."""
        ready = [
            each
            for each in self._cluster["ready"] - self._until.keys()
            if machines[each].group["nodegroupArn"] == machine.group["nodegroupArn"]
        ]
        wanted: int = machine.group["scalingConfig"]["desiredSize"]
        return len(ready) > wanted

    def _pods(self, machine: Machine) -> list[Row]:
        """Return the pods of a node that a drain evicts."""
        found = self._client.call("GET", f"{_PODS_OF}{machine.instance.private_dns_name}")
        return [
            pod
            for pod in found["items"]
            if "DaemonSet"
            not in {each["kind"] for each in pod["metadata"].get("ownerReferences", [])}
        ]

    def _cordon(self, machine: Machine) -> None:
        """Let a node take no more pods."""
        node = f"/api/v1/nodes/{machine.instance.private_dns_name}"
        cordon = {"spec": {"unschedulable": True}}
        self._client.call("PATCH", node, cordon, content_type=_MERGE)

    def _evict(self, pods: list[Row]) -> None:
        """Evict the pods that are not ending yet, as far as their budgets let it now."""
        for pod in pods:
            metadata = pod["metadata"]
            if "deletionTimestamp" in metadata:
                continue
            eviction = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            }
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
            try:
                self._client.call("POST", f"{path}/eviction", eviction)
            except ApiRefusal as refusal:
                if refusal.code not in _NOT_NOW:
                    raise


def drain_first(cluster: Row, instance_id: str, then: Callable[[bool], None]) -> None:
    """Have a node of a cluster with an API server drained.

    Args:
        cluster: it.
        instance_id: of the node.
        then: called afterwards, or after 15 minutes; its argument says whether it is drained.
    """
    cluster["leaving"].setdefault(instance_id, []).append(then)
