"""The kubelets of a cluster's nodes: each registers its node, and says that it is alive.

Kubernetes, "Nodes" and "Node heartbeats": a node registers itself, and renews its lease every ten
seconds; without it, the controllers take the node for lost. Its "Cloud Controller Manager": a node
whose instance is gone is deleted. amazon-eks-ami: a node has the name of its instance's private
DNS. Kubernetes, "Network Plugins": a node is ready once the plugin of the pods' network is there,
which a pod of the VPC CNI puts there. Inferred: a boot takes a minute; a machine that powers itself
off is gone after five seconds of this machine, and its kubelet takes pods until then.
"""

import socket
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from embedded_aws.actions import Call, Row
from embedded_aws.clock import seconds_here
from embedded_aws.ec2.instance_files import powers_off
from embedded_aws.ec2.machines import switched_itself_off
from embedded_aws.eks.block_scaledowns import BlockScaledowns
from embedded_aws.eks.calls import guard
from embedded_aws.eks.drains import Drains
from embedded_aws.eks.kubelet_port import KUBELET_PORT, KubeletPort
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.node_objects import (
    as_node,
    conditions,
    labels_of_others,
    registered,
    status,
    taints_of_group,
)
from embedded_aws.eks.node_repairs import NodeRepairs
from embedded_aws.eks.nodegroup_health import WITHOUT_NETWORK, registered_of
from embedded_aws.eks.nodegroup_resources import template_of
from embedded_aws.eks.pods import Pods
from embedded_aws.eks.tables import nodegroups, of_cluster
from embedded_aws.hosts.service import hosts
from embedded_aws.kubernetes.certificates import KeyPair
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_BOOT_SECONDS = 60
_POWER_OFF_SECONDS = 5
_HEARTBEAT_SECONDS = 10
_LEASE_SECONDS = 40
_NODES = "/api/v1/nodes"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"
_STRATEGIC = "application/strategic-merge-patch+json"
_MICRO_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


class Kubelets:
    """The kubelets of one cluster.

    Args:
        call: in whose account and region.
        cluster: it.
        client: an administrator's, of its API server.
        folder: for keys and certificates.
    """

    def __init__(self, call: Call, cluster: Row, client: ApiClient, folder: Path) -> None:
        self._call = call
        self._cluster = cluster
        self._client = client
        # When each instance was seen first, and when its node last renewed its lease.
        self._seen: dict[str, float] = {}
        self._renewed: dict[str, float] = {}
        self._machines: dict[str, Machine] = {}
        # Since when the machines that power themselves off do so.
        self._off_since: dict[str, float] = {}
        self._drains = Drains(call, cluster, client)
        self._repairs = NodeRepairs(call, cluster, client)
        self._scaledowns = BlockScaledowns(call, cluster)
        # Read by whoever waits for the nodes of a group: instances whose nodes take pods.
        cluster["ready"] = set()
        self._pods = Pods(client, call, cluster)
        self._port = KubeletPort(KeyPair(**cluster["authority"]), folder, self._pods.log)

    def look(self) -> None:
        """Register the nodes of instances that have booted, keep the others, remove the gone.

        Raises:
            ApiRefusal: the API server does not do it.
            OSError: it does not answer.
        """
        there, now = self._joining(), time.monotonic()
        for instance_id in [each for each in self._machines if each not in there]:
            self._remove(instance_id)
        for instance_id, group in there.items():
            seen = self._seen.setdefault(instance_id, now)
            machine = self._machines.get(instance_id)
            if machine is None:
                if now - seen >= seconds_here(_BOOT_SECONDS):
                    self._register(instance_id, group)
            elif now - self._renewed[instance_id] >= _HEARTBEAT_SECONDS:
                self._renew(machine.instance.private_dns_name)
                self._renewed[instance_id] = now
        machines = self._machines.values()
        self._pods.look({each.instance.private_dns_name: each for each in machines})
        self._note_networks()
        self._repairs.look(self._machines)
        self._scaledowns.look(self._machines)
        self._drains.look(self._machines)
        self._power_off(now)

    def reach(self, address: str, port: int) -> socket.socket | None:
        """Return a connection to a kubelet or a pod, or None if nothing listens there."""
        nodes = [each.instance.private_ip for each in list(self._machines.values())]
        if port == KUBELET_PORT and address in nodes:
            return self._port.connect(address)
        return self._pods.reach(address, port)

    def _joining(self) -> Mapping[str, Row]:
        """Return the node group of each instance that joins."""
        with guard:
            groups = of_cluster(nodegroups(self._call), self._cluster["name"])
            return {each: group for group in groups for each in registered_of(self._call, group)}

    def _note_networks(self) -> None:
        """Have nodes say that they are ready, whose pods now have a network."""
        ready = {
            instance_id
            for instance_id, machine in self._machines.items()
            if machine.instance.private_dns_name in self._pods.networks
        }
        for instance_id in ready - self._cluster["ready"]:
            name = self._machines[instance_id].instance.private_dns_name
            self._client.call(
                "PATCH",
                f"{_NODES}/{name}/status",
                {"status": {"conditions": conditions("")}},
                content_type=_MERGE,
                **as_node(name),
            )
        self._cluster["ready"] = ready

    def _power_off(self, now: float) -> None:
        """End the machines that power themselves off by a file that a pod has left."""
        if (running := hosts()) is None:
            return
        for instance_id, machine in self._machines.items():
            instance = machine.instance
            if instance.state != "running" or not powers_off(instance, running.disk(instance)):
                continue
            if now - self._off_since.setdefault(instance_id, now) >= _POWER_OFF_SECONDS:
                switched_itself_off(instance)

    def _register(self, instance_id: str, group: Row) -> None:
        instance = self._call.backend("ec2").get_instance(instance_id)
        with guard:
            template = template_of(self._call, group)
            machine = Machine(instance=instance, group=group, template=template)
            labels = labels_of_others(self._call, machine)
        name = instance.private_dns_name
        node = {"apiVersion": "v1", "kind": "Node", **registered(machine)}
        self._say(name, f"{_NODES}/{name}", node)
        found = {"status": status(machine, self._cluster["version"], WITHOUT_NETWORK)}
        self._client.call(
            "PATCH", f"{_NODES}/{name}/status", found, content_type=_MERGE, **as_node(name)
        )
        self._renew(name)
        self._machines[instance_id] = machine
        self._renewed[instance_id] = time.monotonic()
        self._complete(machine, labels)

    def _complete(self, machine: Machine, labels: Mapping[str, str]) -> None:
        """Add what others than the kubelet say of a node."""
        instance, taints = machine.instance, taints_of_group(machine.group)
        path = f"{_NODES}/{instance.private_dns_name}"
        provider = f"aws:///{instance.placement.zone}/{instance.id}"
        changes = {"metadata": {"labels": labels}, "spec": {"providerID": provider}}
        self._client.call("PATCH", path, changes, content_type=_MERGE)
        if taints:
            # Merges the list by keys, so that no controller's taint is put back.
            self._client.call("PATCH", path, {"spec": {"taints": taints}}, content_type=_STRATEGIC)

    def _renew(self, name: str) -> None:
        now = datetime.now(UTC).strftime(_MICRO_TIME)
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name},
            "spec": {
                "holderIdentity": name,
                "leaseDurationSeconds": _LEASE_SECONDS,
                "renewTime": now,
            },
        }
        self._say(name, f"{_LEASES}/{name}", lease)

    def _say(self, node: str, path: str, said: Row) -> None:
        """Create or change an object as the kubelet of a node: another may have had its name."""
        path = f"{path}?fieldManager=kubelet&force=true"
        self._client.call("PATCH", path, said, content_type=_APPLY, **as_node(node))

    def _remove(self, instance_id: str) -> None:
        name = self._machines.pop(instance_id).instance.private_dns_name
        self._off_since.pop(instance_id, None)
        try:
            self._client.call("DELETE", f"{_NODES}/{name}")
        except ApiRefusal as error:
            # Somebody else has deleted it.
            if error.code != 404:
                raise
