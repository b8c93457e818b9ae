"""What a kubelet finds on an instance, and what of it pods may have.

amazon-eks-ami, nodeadm and bootstrap.sh: what is reserved for the kubelet (255 MiB and 11 for each
pod that the type takes by default, with nodeadm for each that the kubelet takes; 6 % of the first
vCPU, 1 % of the next, half a per cent of two more, a quarter of the others), and 100 MiB kept
free. Kubernetes, "Reserve Compute Resources": what is allocatable; huge pages are taken off the
memory. Inferred, from capacities of m6i.large and p4d.24xlarge in public logs: the kernel and the
hypervisor keep 150 MiB and 2.7 % of the memory. Inferred: 97 % of the root volume are the node's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from embedded_aws.ec2.instance_types import Record
from embedded_aws.eks.node_config import most_pods

_KEPT_MIB, _KEPT_SHARE = 150, 0.027
_RESERVED_MIB, _RESERVED_MIB_PER_POD, _FREE_MIB = 255, 11, 100
_PAGE_MIB = 2
_MILLI = 1000
_DISK_SHARE = 0.97
_DISK_GIB = 20
_RESERVED_CPU, _RESERVED_CPU_OF_OTHERS = (60, 10, 5, 5), 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResources:
    """Quantities of Kubernetes by resource.

    Attributes:
        capacity: what there is.
        allocatable: what pods may ask for.
    """

    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]


def resources_of(
    record: Record,
    template: Mapping[str, Any],
    spec: Mapping[str, Any],
    *,
    huge_pages: int,
    reserves_by_type: bool,
) -> NodeResources:
    """Return the resources of a node, before any device plugin runs.

    Args:
        record: of the instance type.
        template: data of the launch template.
        spec: what its user data say of the kubelet.
        huge_pages: pages of 2 MiB that the AMI reserves there.
        reserves_by_type: memory is reserved for the pods that the type takes by default, whatever
            the kubelet takes.

    Raises:
        BadNodeConfig: the NodeConfig does not say how many pods it takes.
    """
    vcpus = _vcpus(record, template)
    network = record["NetworkInfo"]
    slots = {
        "interfaces": network["NetworkCards"][0]["MaximumNetworkInterfaces"],
        "addresses": network["Ipv4AddressesPerInterface"],
    }
    pods = most_pods(spec, **slots)
    counted = most_pods({}, **slots) if reserves_by_type else pods
    size = record["MemoryInfo"]["SizeInMiB"]
    memory = int(size * (1 - _KEPT_SHARE)) - _KEPT_MIB
    pages = huge_pages * _PAGE_MIB
    reserved = _RESERVED_MIB + _RESERVED_MIB_PER_POD * counted + _FREE_MIB
    disk = int(_disk_gib(template) * _DISK_SHARE)
    both = {"pods": str(pods), "hugepages-2Mi": f"{pages}Mi", "hugepages-1Gi": "0"}
    return NodeResources(
        capacity={
            **both,
            "cpu": str(vcpus),
            "memory": f"{memory}Mi",
            "ephemeral-storage": f"{disk}Gi",
        },
        allocatable={
            **both,
            "cpu": f"{vcpus * _MILLI - int(sum(_reserved_cpu(vcpus)))}m",
            "memory": f"{memory - reserved - pages}Mi",
            "ephemeral-storage": f"{int(disk * 0.9)}Gi",
        },
    )


def _vcpus(record: Record, template: Mapping[str, Any]) -> int:
    if options := template.get("CpuOptions"):
        return int(options["CoreCount"]) * int(options.get("ThreadsPerCore", 2))
    return int(record["VCpuInfo"]["DefaultVCpus"])


def _reserved_cpu(vcpus: int) -> Iterator[float]:
    """Yield how many thousandths of each vCPU are reserved."""
    for index in range(vcpus):
        first = index < len(_RESERVED_CPU)
        yield _RESERVED_CPU[index] if first else _RESERVED_CPU_OF_OTHERS


def _disk_gib(template: Mapping[str, Any]) -> int:
    for mapping in template.get("BlockDeviceMappings", []):
        if size := mapping.get("Ebs", {}).get("VolumeSize"):
            return int(size)
    return _DISK_GIB
