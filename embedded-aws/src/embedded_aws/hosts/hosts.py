"""The hosts of one embedded AWS: those instances on which processes run.

An instance gets a host when the first process is started on it, and loses it when it stops or ends.
Inferred: how many there may be: each has some processes and threads.
"""

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from embedded_aws.hosts.addresses import Address
from embedded_aws.hosts.credentials import RoleCredentials
from embedded_aws.hosts.environment import host_variables
from embedded_aws.hosts.host import Answer, Host
from embedded_aws.hosts.image_files import ImageFiles
from embedded_aws.hosts.network import Network, namespaces_unavailable
from embedded_aws.trees import remove_tree

_MOST = 512
_LOOPBACK = "127."
# EC2 user guide, "Instance metadata service": of each instance. Pods are a hop further.
_METADATA = ("169.254.169.254", 80)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A host within an instance that has an address and a name of its own, as a pod has.

    Attributes:
        key: that no other one of the instance has.
        address: of the instance's subnet, where hosts have networks of their own.
        name: of the host.
        names: file that is its /etc/hosts there, by which it finds others.
        services: what serves addresses and ports that only it has, in a network of its own.
    """

    key: str
    address: str
    name: str
    names: Path
    services: Mapping[tuple[str, int], Answer] = field(default_factory=dict)


class NoHost(Exception):
    """No process can be started on an instance; the message says why."""


class Hosts:
    """The hosts.

    Attributes:
        apart: they have networks of their own; otherwise each has an address of loopback.
        endpoint: URL of the embedded AWS.
        folder: for files of processes.
        credentials: of the roles of processes.
        images: whose files containers have.

    Args:
        apart: they would have networks of their own, if this machine can.
        folder: for files of processes.
        lock: open file, locked until no process is left.
        endpoint: URL of the embedded AWS.
        port: of the embedded AWS.
        answer: serves a connection to it.
    """

    def __init__(
        self, *, apart: bool, folder: Path, lock: int, endpoint: str, port: int, answer: Answer
    ) -> None:
        self.apart = apart and not namespaces_unavailable()
        self.endpoint = endpoint
        self.folder = folder
        self.credentials = RoleCredentials(endpoint)
        # Serves a connection to the metadata service of an instance.
        self.metadata: Callable[[Any, socket.socket], None] | None = None
        self.images = ImageFiles(folder / "images", lock, apart=self.apart)
        self._lock, self._port, self._answer = lock, port, answer
        self._guard = threading.Lock()
        # By the instance's id, and the key of an inner one or an empty text.
        self._hosts: dict[tuple[str, str], Host] = {}
        self._claimed: dict[str, Address] = {}
        self._networks: dict[str, Network] = {}
        # The VPC of each host on a network.
        self._members: dict[tuple[str, str], str] = {}

    def variables(self, address: str) -> dict[str, str]:
        """Return the variables of a process on the host with an address."""
        return host_variables(self.endpoint, None if self.apart else address)

    def place(self, instance: Any) -> None:
        """Give moto's instance an address that processes on this machine can have."""
        if self.apart or (instance.private_ip or _LOOPBACK).startswith(_LOOPBACK):
            return
        address = self._claimed[instance.id] = Address()
        instance.nics[0].private_ip_address = address.text

    def disk(self, instance: Any) -> Path:
        """Return the folder for the files of moto's instance, which is there until it ends."""
        folder = self.folder / str(instance.id)
        folder.mkdir(exist_ok=True)
        return folder

    def of(self, instance: Any, inner: Inner | None = None) -> Host:
        """Return the host of moto's instance, or one within it, which may be made now.

        Raises:
            NoHost: the instance does not run, or there are too many.
        """
        with self._guard:
            if instance.state not in ("pending", "running"):
                raise NoHost(f"the instance is {instance.state}")
            key = (instance.id, inner.key if inner else "")
            if key not in self._hosts:
                if len(self._hosts) >= _MOST:
                    raise NoHost(
                        f"the embedded AWS runs processes on at most {_MOST} instances and pods"
                    )
                self.place(instance)
                self._hosts[key] = self._make(instance, inner)
            return self._hosts[key]

    def found(self, instance: Any, key: str = "") -> Host | None:
        """Return the host of moto's instance, or one within it by its key; None if it has none."""
        with self._guard:
            return self._hosts.get((instance.id, key))

    def end_inner(self, instance: Any, key: str) -> None:
        """End the processes of a host within moto's instance, if it has it."""
        with self._guard:
            self._close((instance.id, key))

    def end(self, instance: Any) -> None:
        """End the processes of moto's instance, for good if it is terminated."""
        with self._guard:
            for key in [each for each in self._hosts if each[0] == instance.id]:
                self._close(key)
            self.credentials.revoke(instance.id)
            if instance.state == "terminated":
                remove_tree(self.folder / instance.id)
                if address := self._claimed.pop(instance.id, None):
                    address.release()

    def _close(self, key: tuple[str, str]) -> None:
        if host := self._hosts.pop(key, None):
            host.close()
            self._leave(key)

    def _make(self, instance: Any, inner: Inner | None) -> Host:
        joining = None
        if self.apart:
            joins = self._network(instance).joining
            joining = partial(joins, instance.private_ip)
            if inner:
                joining = partial(joins, inner.address, name=inner.name, names=inner.names)
            self._members[instance.id, inner.key if inner else ""] = instance.vpc_id
        host = Host(joining, port=self._port, answer=self._answer, lock=self._lock)
        if joining and inner:
            for (address, port), answer in inner.services.items():
                host.serve(address, port, answer)
        elif joining and self.metadata:
            answer_about = partial(self.metadata, instance)
            host.serve(*_METADATA, lambda asking, _: answer_about(asking))
        return host

    def _network(self, instance: Any) -> Network:
        """Return the network of an instance's VPC, where the others have names."""
        backend, vpc_id = instance.ec2_backend, instance.vpc_id
        if vpc_id not in self._networks:
            prefix = ip_network(backend.get_vpc(vpc_id).cidr_block).prefixlen
            self._networks[vpc_id] = Network(prefix, self.folder / f"hosts-{vpc_id}", self._lock)
        network = self._networks[vpc_id]
        peers = [each for each in backend.all_instances() if each.vpc_id == vpc_id]
        network.name(peer.private_ip for peer in peers if peer.private_ip)
        return network

    def _leave(self, key: tuple[str, str]) -> None:
        """Close the network of a host that has ended, if it was the last one there."""
        vpc_id = self._members.pop(key, None)
        if vpc_id and vpc_id not in self._members.values():
            self._networks.pop(vpc_id).close()
