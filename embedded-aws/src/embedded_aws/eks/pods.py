"""The pods of a cluster's nodes, as their kubelets treat them.

Kubernetes, "Pod Lifecycle" and "Device Plugins". Device plugins run, in as far as they announce the
devices that they find, and add-ons, in as far as they are there: the VPC CNI's pod gives its node a
network. Other pods run as processes, where this machine has what they run (`pod_run`). VPC CNI:
each pod that is not on its node's own network takes an address of the interfaces of card 0, of
which one that is `efa-only` has none; without one it waits.
"""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

from embedded_aws.actions import Call, Row
from embedded_aws.ec2.network_interfaces import kind_of, place_of
from embedded_aws.eks.addon_objects import brings_the_network, is_of_an_addon
from embedded_aws.eks.device_plugins import devices, is_plugin
from embedded_aws.eks.image_programs import why_not_run
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.node_objects import as_node
from embedded_aws.eks.pod_logs import ContainerLog
from embedded_aws.eks.pod_network import NO_ADDRESS, find_names
from embedded_aws.eks.pod_problems import Waits
from embedded_aws.eks.pod_run import PodRun
from embedded_aws.eks.pod_statuses import status_of_all
from embedded_aws.hosts.hosts import Hosts
from embedded_aws.hosts.service import hosts
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_PODS = "/api/v1/pods?fieldSelector=spec.nodeName!="
_MERGE = "application/merge-patch+json"
_OVER = ("Succeeded", "Failed")
_NO_NETWORK = "network is not ready: cni plugin not initialized"
_NO_PROCESSES = "instances of this embedded AWS run no processes"


class Pods:
    """The pods that the nodes of one cluster have.

    Attributes:
        networks: names of the nodes whose pods have a network. The VPC CNI's files stay on a node
            when its pod ends.

    Args:
        client: an administrator's, of its API server.
        call: in whose account and region.
        cluster: it.
    """

    def __init__(self, client: ApiClient, call: Call, cluster: Row) -> None:
        self._client, self._call, self._cluster = client, call, cluster
        self.networks: set[str] = set()
        # What device plugins have announced on each node, and what each pod was told last.
        self._announced: dict[str, dict[str, int]] = {}
        self._told: dict[str, str] = {}
        # What the API server refused last, of one of the pods that are looked at.
        self._refusal: ApiRefusal | None = None
        # By the pod's uid, until it is no longer in the API.
        self._runs: dict[str, PodRun] = {}

    def look(self, machines: Mapping[str, Machine]) -> None:
        """Start what is new, end what is deleted, tell how all are, announce devices.

        Args:
            machines: by the name of their node.

        Raises:
            ApiRefusal: the API server does not do it.
            OSError: it does not answer.
        """
        by_node: dict[str, list[Row]] = {name: [] for name in machines}
        pods = self._client.call("GET", _PODS)["items"]
        self._forget({pod["metadata"]["uid"]: pod["status"].get("phase") for pod in pods})
        for pod in pods:
            # One that is over and to be deleted has its kubelet's word to come.
            stays = pod["status"].get("phase") not in _OVER or _grace(pod)
            if pod["spec"]["nodeName"] in by_node and stays:
                by_node[pod["spec"]["nodeName"]].append(pod)
        for name, machine in machines.items():
            self._of_node(name, machine, by_node[name])
        self.networks &= machines.keys()
        for gone in self._announced.keys() - machines.keys():
            del self._announced[gone]
        there = {pod["metadata"]["uid"] for of_one in by_node.values() for pod in of_one}
        self._told = {uid: said for uid, said in self._told.items() if uid in there}
        self._tell_names()
        if refusal := self._refusal:
            self._refusal = None
            raise refusal

    def _forget(self, phases: Mapping[str, str | None]) -> None:
        """End what is no longer in the API, or is over there: its node is lost."""
        for uid, run in list(self._runs.items()):
            if phases.get(uid, "Failed") in _OVER:
                run.close()
            if uid not in phases:
                del self._runs[uid]

    def _tell_names(self) -> None:
        runs = [each for each in self._runs.values() if not each.over]
        if not runs:
            return
        names = find_names(self._client)
        here = {each.place.address: each.place.here for each in runs}
        for run in runs:
            run.place.learn(names, here)

    def reach(self, address: str, port: int) -> socket.socket | None:
        """Return a connection to a pod, or None if nothing listens there."""
        for run in list(self._runs.values()):
            if run.place.address == address and (found := run.connect(port)):
                return found
        return None

    def log(self, namespace: str, pod: str, container: str, before: bool) -> ContainerLog | None:
        """Return the log of a container, or of its run before; None if it has none."""
        for run in list(self._runs.values()):
            metadata = run.pod["metadata"]
            if (metadata["namespace"], metadata["name"]) == (namespace, pod):
                return run.log(container, before=before)
        return None

    def _of_node(self, name: str, machine: Machine, pods: list[Row]) -> None:
        found: dict[str, int] = {}
        free = _addresses(machine)
        # Who was there first has its address.
        for pod in sorted(pods, key=lambda each: str(each["status"].get("startTime", "~"))):
            if self._is_lost(pod, machine):
                continue
            if pod["metadata"].get("deletionTimestamp"):
                if self._has_ended(name, pod):
                    self._end(name, pod)
                continue
            own = not pod["spec"].get("hostNetwork")
            free -= own
            if own and name not in self.networks:
                self._wait(name, pod, machine, _NO_NETWORK)
            elif free < 0:
                self._wait(name, pod, machine, NO_ADDRESS)
            elif is_plugin(pod["spec"]):
                found |= devices(machine, pod["spec"])
                self._tell_running(name, pod, machine)
            elif is_of_an_addon(pod["spec"]):
                self._tell_running(name, pod, machine)
                if brings_the_network(pod["spec"]):
                    self.networks.add(name)
            elif (found_hosts := hosts()) is None:
                self._wait(name, pod, machine, _NO_PROCESSES)
            elif why := why_not_run(self._call, pod, found_hosts.images):
                self._wait(name, pod, machine, why)
            else:
                status = self._look_at_run(pod, machine, found_hosts)
                self._tell(name, pod, json.dumps(status), status)
                if brings_the_network(pod["spec"]) and status["phase"] == "Running":
                    self.networks.add(name)
        self._announce(name, found)

    def _tell_running(self, name: str, pod: Row, machine: Machine) -> None:
        address = machine.instance.private_ip
        self._tell(name, pod, "running", status_of_all(pod, address=address, host=address))

    def _wait(self, name: str, pod: Row, machine: Machine, why: str) -> None:
        waits, host = ("ContainerCreating", why), machine.instance.private_ip
        self._tell(name, pod, why, status_of_all(pod, address="", host=host, waits=waits))

    def _look_at_run(self, pod: Row, machine: Machine, on: Hosts) -> Row:
        try:
            return self._run(pod, machine, on).look(pod)
        except Waits as reason:
            waits, host = (reason.reason, str(reason)), machine.instance.private_ip
            return status_of_all(pod, address="", host=host, waits=waits)

    def _run(self, pod: Row, machine: Machine, on: Hosts) -> PodRun:
        """Return the processes of a pod, which may begin now.

        Raises:
            Waits: they cannot yet.
        """
        uid = pod["metadata"]["uid"]
        if uid not in self._runs:
            self._runs[uid] = PodRun(
                self._client, self._call, self._cluster, pod, machine.instance, on
            )
        return self._runs[uid]

    def _is_lost(self, pod: Row, machine: Machine) -> bool:
        """Whether a pod was on an instance that has ended, and whose address a new one has.

        The new kubelet knows nothing of it, and confirms no more than its deletion. Inferred: EC2
        gives an address again much later than it can happen here.
        """
        run = self._runs.get(pod["metadata"]["uid"])
        if run is None or run.instance is machine.instance:
            return False
        if not pod["metadata"].get("deletionTimestamp"):
            return True
        run.close()
        del self._runs[pod["metadata"]["uid"]]
        return False

    def _has_ended(self, name: str, pod: Row) -> bool:
        """Whether nothing of a pod that is to be deleted runs any more."""
        run = self._runs.get(pod["metadata"]["uid"])
        if run is None or pod["status"].get("phase") in _OVER:
            return True
        run.stop(_grace(pod))
        status = run.look(pod)
        self._tell(name, pod, json.dumps(status), status)
        return status["phase"] in _OVER

    def _announce(self, name: str, found: dict[str, int]) -> None:
        """Say which devices a node has: of a plugin that is gone, none."""
        before = self._announced.get(name, {})
        if found == before:
            return
        sizes = {resource: str(found.get(resource, 0)) for resource in {**before, **found}}
        status = {"capacity": sizes, "allocatable": sizes}
        self._say(name, f"/api/v1/nodes/{name}/status", {"status": status})
        self._announced[name] = found

    def _tell(self, name: str, pod: Row, what: str, status: Row) -> None:
        """Say how a pod is, unless that is known."""
        uid = pod["metadata"]["uid"]
        if self._told.get(uid) != what:
            # Else conditions that another one adds meanwhile would be lost.
            version = {"resourceVersion": pod["metadata"]["resourceVersion"]}
            with self._noting_refusal():
                self._say(name, f"{_path(pod)}/status", {"metadata": version, "status": status})
                self._told[uid] = what

    def _say(self, name: str, path: str, changes: Row) -> None:
        self._client.call("PATCH", path, changes, content_type=_MERGE, **as_node(name))

    @contextmanager
    def _noting_refusal(self) -> Iterator[None]:
        """Let what is refused of one pod hold up no other."""
        try:
            yield
        except ApiRefusal as error:
            # What has changed meanwhile, or has gone, is looked at again.
            if error.code not in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                self._refusal = error

    def _end(self, name: str, pod: Row) -> None:
        """End a pod, as its kubelet confirms."""
        now = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        with self._noting_refusal():
            self._client.call("DELETE", _path(pod), now, **as_node(name))


def _path(pod: Row) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def _grace(pod: Row) -> float:
    """Return how long the containers of a pod have that is to be deleted; otherwise 0."""
    return float(pod["metadata"].get("deletionGracePeriodSeconds", 0))


def _addresses(machine: Machine) -> int:
    """Return how many pods of a node have an address of their own."""
    network = machine.record["NetworkInfo"]
    of_card_0 = [each for each in machine.interfaces if place_of(each)[0] == 0]
    without = sum(kind_of(each) == "efa-only" for each in of_card_0)
    usable = network["NetworkCards"][0]["MaximumNetworkInterfaces"] - without
    return int(usable * (network["Ipv4AddressesPerInterface"] - 1))
