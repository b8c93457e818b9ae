"""Addresses and names of pods.

VPC CNI: a pod that is not on its node's own network has a secondary address of the node's
interfaces; here all are those of the primary one. Kubernetes, "DNS for Services and Pods": a pod
with `hostname` and `subdomain`, for which there is a headless service of that name, is found as
HOSTNAME.SUBDOMAIN.NAMESPACE.svc.cluster.local, and the name of the service itself stands for all of
its pods; the short forms follow from the search domains of its resolv.conf. "Adding entries to Pod
/etc/hosts with HostAliases": the file that the kubelet writes. The names of cluster DNS are added
there, as often as EndpointSlices change: without a service, or before it has the endpoint, there
is no name.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded_aws.eks.pod_problems import Waits
from embedded_aws.eks.vpc_access import is_ready
from embedded_aws.hosts.addresses import Address
from embedded_aws.kubernetes.client import ApiClient

NO_ADDRESS = "failed to assign an IP address to container"
_DOMAIN = "svc.cluster.local"
_HEAD = """# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
"""
_SERVICE = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """Names of an endpoint, the full one first.

    Attributes:
        address: of the endpoint.
        namespace: in which `short` is a name, too.
        full: names that hold everywhere.
        short: of the namespace alone.
    """

    address: str
    namespace: str
    full: Sequence[str]
    short: str


def find_names(client: ApiClient) -> list[Name]:
    """Return the names that cluster DNS has for the endpoints of headless services."""
    services = client.call("GET", "/api/v1/services")["items"]
    # One of type ExternalName has none.
    headless = {
        _key(each["metadata"]) for each in services if each["spec"].get("clusterIP") == "None"
    }
    slices = client.call("GET", "/apis/discovery.k8s.io/v1/endpointslices")["items"]
    return [
        Name(
            address=endpoint["addresses"][0],
            namespace=namespace,
            full=[f"{stem}.{namespace}.{suffix}" for suffix in (_DOMAIN, "svc")]
            + [f"{stem}.{namespace}"],
            short=stem,
        )
        for each in slices
        for namespace in [each["metadata"]["namespace"]]
        for service in [each["metadata"].get("labels", {}).get(_SERVICE)]
        if (namespace, service) in headless
        for endpoint in each["endpoints"] or []
        if is_ready(endpoint)
        for stem in _stems(endpoint, service)
    ]


def _stems(endpoint: Mapping[str, Any], service: str) -> Iterator[str]:
    if "hostname" in endpoint:
        yield f"{endpoint['hostname']}.{service}"
    yield service


def _key(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata["namespace"], metadata["name"]


class PodPlace:
    """Where a pod is, and as what.

    Attributes:
        address: of the pod, in its VPC.
        here: where its processes are on this machine, seen from the other pods.
        hostname: of the pod.
        full_name: with its domain; None without one.
        file: its /etc/hosts.

    Args:
        pod: it.
        instance: moto's, its node.
        file: for its names.
        apart: it has a network of its own on this machine; otherwise an address of loopback.

    Raises:
        Waits: the subnet has no address left.
    """

    def __init__(self, pod: Mapping[str, Any], instance: Any, file: Path, *, apart: bool) -> None:
        spec, metadata = pod["spec"], pod["metadata"]
        self.hostname = spec.get("hostname") or metadata["name"][:63].rstrip("-.")
        self.file = file
        self._namespace = metadata["namespace"]
        self._aliases = spec.get("hostAliases", [])
        self.full_name = None
        if domain := spec.get("subdomain"):
            self.full_name = f"{self.hostname}.{domain}.{self._namespace}.{_DOMAIN}"
        self._interface: Any = None
        self._entry: dict[str, Any] = {}
        self._claim = None if apart or spec.get("hostNetwork") else Address()
        if spec.get("hostNetwork"):
            self.hostname, self.full_name = instance.private_dns_name, None
            self.address = self.here = instance.private_ip
            return
        self._interface = instance.nics[0]
        try:
            self.address = str(self._interface.subnet.get_available_subnet_ip(self._interface))
        except StopIteration as error:
            self.release()
            raise Waits("ContainerCreating", NO_ADDRESS) from error
        self._entry = {"Primary": False, "PrivateIpAddress": self.address}
        self._interface.private_ip_addresses.append(self._entry)
        self.here = self._claim.text if self._claim else self.address
        self._write(_HEAD + self._own())

    @property
    def of_node(self) -> bool:
        """It is on its node's own network."""
        return self._interface is None

    def learn(self, names: Sequence[Name], here: Mapping[str, str]) -> None:
        """Let the pod find others by their names.

        Args:
            names: of all endpoints.
            here: where the processes of pods are on this machine, by address.
        """
        if not self.of_node:
            self._write(_HEAD + self._own() + "".join(self._lines(names, here)))

    def release(self) -> None:
        """Give the address back, once nothing runs there any more."""
        if self._entry and self._entry in self._interface.private_ip_addresses:
            self._interface.private_ip_addresses.remove(self._entry)
            self._interface.subnet.del_subnet_ip(self.address)
        if self._claim:
            self._claim.release()
        self.file.unlink(missing_ok=True)

    def _own(self) -> str:
        names = " ".join(filter(None, (self.full_name, self.hostname)))
        aliases = [f"{each['ip']}\t{' '.join(each['hostnames'])}\n" for each in self._aliases]
        return f"{self.here}\t{names}\n" + "".join(aliases)

    def _lines(self, names: Sequence[Name], here: Mapping[str, str]) -> Iterator[str]:
        for each in names:
            short = [each.short] if each.namespace == self._namespace else []
            address = here.get(each.address, each.address)
            yield f"{address}\t{' '.join([*each.full, *short])}\n"

    def _write(self, text: str) -> None:
        """Write in place: the pod has this file mounted, and may read it at any time."""
        opened = os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            written = os.pwrite(opened, text.encode(), 0)
            os.ftruncate(opened, written)
        finally:
            os.close(opened)
