"""The pods of a cluster's nodes, as their kubelets treat them.

Kubernetes, "Pod Lifecycle" and "Device Plugins". Device plugins run, in as far as they announce the
devices that they find, and add-ons, in as far as they are there: the VPC CNI's pod gives its node a
network. Of other pods nothing runs: their containers wait, and say so. VPC CNI: each pod that is
not on its node's own network takes an address of the interfaces of card 0, of which one that is
`efa-only` has none; without one it waits.
"""

import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.ec2.network_interfaces import kind_of, place_of
from embedded_aws.eks.addon_objects import brings_the_network, is_of_an_addon
from embedded_aws.eks.device_plugins import devices, is_plugin
from embedded_aws.eks.node_machines import Machine
from embedded_aws.kubernetes.client import ApiClient

_PODS = "/api/v1/pods?fieldSelector=spec.nodeName!="
_MERGE = "application/merge-patch+json"
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_OVER = ("Succeeded", "Failed")
_NOT_RUN = "the embedded AWS does not run this image"
_NO_NETWORK = "network is not ready: cni plugin not initialized"
_NO_ADDRESS = "failed to assign an IP address to container"


def as_node(name: str) -> dict[str, str]:
    """Return the user and the group of a node's kubelet."""
    return {"user": f"system:node:{name}", "group": "system:nodes"}


class Pods:
    """The pods that the nodes of one cluster have.

    Attributes:
        networks: names of the nodes whose pods have a network. The VPC CNI's files stay on a node
            when its pod ends.

    Args:
        client: an administrator's, of its API server.
    """

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self.networks: set[str] = set()
        # What device plugins have announced on each node, and what each pod was told last.
        self._announced: dict[str, dict[str, int]] = {}
        self._told: dict[str, str] = {}

    def look(self, machines: Mapping[str, Machine]) -> None:
        """Start device plugins, end what is deleted, announce devices.

        Args:
            machines: by the name of their node.

        Raises:
            ApiRefusal: the API server does not do it.
            OSError: it does not answer.
        """
        by_node: dict[str, list[Row]] = {name: [] for name in machines}
        for pod in self._client.call("GET", _PODS)["items"]:
            if pod["spec"]["nodeName"] in by_node and pod["status"].get("phase") not in _OVER:
                by_node[pod["spec"]["nodeName"]].append(pod)
        for name, machine in machines.items():
            self._of_node(name, machine, by_node[name])
        self.networks &= machines.keys()
        for gone in self._announced.keys() - machines.keys():
            del self._announced[gone]
        there = {pod["metadata"]["uid"] for pods in by_node.values() for pod in pods}
        self._told = {uid: said for uid, said in self._told.items() if uid in there}

    def reach(self, address: str, port: int) -> socket.socket | None:
        """Return a connection to a pod; none listens, since nothing runs."""
        return None

    def _of_node(self, name: str, machine: Machine, pods: list[Row]) -> None:
        found: dict[str, int] = {}
        free = _addresses(machine)
        # Who was there first has its address.
        for pod in sorted(pods, key=lambda each: str(each["status"].get("startTime", "~"))):
            if pod["metadata"].get("deletionTimestamp"):
                self._end(name, pod)
                continue
            own = not pod["spec"].get("hostNetwork")
            free -= own
            if own and name not in self.networks:
                self._tell(name, pod, _NO_NETWORK, _waiting(pod, _NO_NETWORK))
            elif free < 0:
                self._tell(name, pod, _NO_ADDRESS, _waiting(pod, _NO_ADDRESS))
            elif is_plugin(pod["spec"]):
                found |= devices(machine, pod["spec"])
                self._tell(name, pod, "running", _running(pod, machine))
            elif is_of_an_addon(pod["spec"]):
                self._tell(name, pod, "running", _running(pod, machine))
                if brings_the_network(pod["spec"]):
                    self.networks.add(name)
            else:
                self._tell(name, pod, _NOT_RUN, _waiting(pod, _NOT_RUN))
        self._announce(name, found)

    def _announce(self, name: str, found: dict[str, int]) -> None:
        """Say which devices a node has: of a plugin that is gone, none."""
        before = self._announced.get(name, {})
        if found == before:
            return
        sizes = {resource: str(found.get(resource, 0)) for resource in {**before, **found}}
        status = {"capacity": sizes, "allocatable": sizes}
        self._say(name, f"/api/v1/nodes/{name}/status", status)
        self._announced[name] = found

    def _tell(self, name: str, pod: Row, what: str, status: Row) -> None:
        """Say how a pod is, unless that is known."""
        uid = pod["metadata"]["uid"]
        if self._told.get(uid) != what:
            self._say(name, f"{_path(pod)}/status", status)
            self._told[uid] = what

    def _say(self, name: str, path: str, status: Row) -> None:
        changes = {"status": status}
        self._client.call("PATCH", path, changes, content_type=_MERGE, **as_node(name))

    def _end(self, name: str, pod: Row) -> None:
        """End a pod, as its kubelet confirms."""
        now = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self._client.call("DELETE", _path(pod), now, **as_node(name))


def _path(pod: Row) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def _addresses(machine: Machine) -> int:
    """Return how many pods of a node have an address of their own."""
    network = machine.record["NetworkInfo"]
    of_card_0 = [each for each in machine.interfaces if place_of(each)[0] == 0]
    without = sum(kind_of(each) == "efa-only" for each in of_card_0)
    usable = network["NetworkCards"][0]["MaximumNetworkInterfaces"] - without
    return int(usable * (network["Ipv4AddressesPerInterface"] - 1))


def _running(pod: Row, machine: Machine) -> Row:
    started, address = datetime.now(UTC).strftime(_TIME), machine.instance.private_ip
    containers = [_container(each, {"running": {"startedAt": started}}) for each in _of(pod)]
    ready = [
        {"type": kind, "status": "True", "lastTransitionTime": started}
        for kind in ("Initialized", "ContainersReady", "Ready", "PodScheduled")
    ]
    return {
        "phase": "Running",
        "startTime": started,
        "hostIP": address,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": ready,
        "containerStatuses": containers,
    }


def _waiting(pod: Row, message: str) -> Row:
    state = {"waiting": {"reason": "ContainerCreating", "message": message}}
    return {"containerStatuses": [_container(each, state) for each in _of(pod)]}


def _of(pod: Row) -> list[Any]:
    found: list[Any] = pod["spec"]["containers"]
    return found


def _container(container: Mapping[str, Any], state: Row) -> Row:
    running = "running" in state
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": running,
        "started": running,
        "restartCount": 0,
        "state": state,
    }
