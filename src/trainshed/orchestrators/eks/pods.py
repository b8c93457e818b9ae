"""The pod of a job: the whole node, by what Kubernetes counts on it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.plan.job_environment import network_environment
from trainshed.plan.jobs import PlannedNode
from trainshed.plan.notes import Notes
from trainshed.spec.job import ContainerJobSpec

# What device plugins call them: EKS user guide, "Manage hardware devices on Amazon EKS"; Habana's
# documentation, "Kubernetes installation".
_ACCELERATORS: Mapping[AcceleratorFamily, str] = {
    AcceleratorFamily.HABANA: "habana.ai/gaudi",
    AcceleratorFamily.NEURON: "aws.amazon.com/neuron",
    AcceleratorFamily.NVIDIA: "nvidia.com/gpu",
}
EFA_RESOURCE = "vpc.amazonaws.com/efa"
# The kernel and the hypervisor keep some memory, as beneath ECS: 7.5 % is Karpenter's allowance.
_MEMORY_SHARE = 0.925
# nodeadm reserves 255 MiB, and 11 MiB for each pod that the kubelet takes; that keeps 100 MiB free.
_RESERVED_MIB, _RESERVED_MIB_PER_POD = 255 + 100, 11
# What add-ons and device plugins ask for on each node, CloudWatch's among them, with some to spare.
_ADD_ONS_MIB = 512
# nodeadm reserves up to half a vCPU; add-ons and device plugins ask for up to 0.8.
_KEPT_VCPUS = 2
_INTERFACE = "eth0"
_SOCKET_VARIABLE: Mapping[AcceleratorFamily, str] = {
    AcceleratorFamily.HABANA: "HCCL_SOCKET_IFNAME",
    AcceleratorFamily.NEURON: "CCOM_SOCKET_IFNAME",
    AcceleratorFamily.NVIDIA: "NCCL_SOCKET_IFNAME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPlan:
    """What the pod of one node gets.

    Attributes:
        resources: requests, and limits of the same size, by name as Kubernetes has them.
        taint: key of the taint of the nodes, which pods of jobs tolerate: the accelerator's
            resource.
        shared_memory_mib: size of /dev/shm in MiB.
        environment: variables.
        folders: folders of the node that it sees under the same path, by the volume's name.
    """

    resources: Mapping[str, str]
    taint: str
    shared_memory_mib: int
    environment: Mapping[str, str]
    folders: Mapping[str, str]


def plan_pod(notes: Notes, node: PlannedNode, *, max_pods: Mapping[str, int]) -> PodPlan:
    """Give the whole node to the pod.

    Args:
        notes: for decisions and problems.
        node: that it has.
        max_pods: how many pods the kubelet takes, by instance type, which decides what it keeps.
    """
    instance, job = node.instance, notes.spec.section(ContainerJobSpec)
    family = instance.accelerator.family
    if not (accelerator := _ACCELERATORS.get(family, "")):
        notes.problem(
            "instance.type",
            f"{instance.name} has accelerators of {family}, for which there is no device plugin "
            "here; use orchestrator ec2",
        )
    # The pod is to fit on a node of each type.
    smallest = min(node.types, key=lambda each: _memory_mib(each, max_pods[each.name]))
    memory_mib = _memory_mib(smallest, max_pods[smallest.name])
    shared_memory_mib = (job.shared_memory_gib or 0) * 1024 or memory_mib // 8
    if shared_memory_mib > memory_mib:
        notes.problem(
            "job.shared_memory_gib",
            f"{job.shared_memory_gib} GiB is more than the pod's memory, {memory_mib // 1024} GiB "
            f"on {smallest.name}",
        )
    kept_vcpus = min(_KEPT_VCPUS, instance.vcpus // 2)
    resources = {
        "cpu": str(instance.vcpus - kept_vcpus),
        "memory": f"{memory_mib}Mi",
        accelerator: str(instance.accelerator.count),
    }
    efa = node.devices.get("efa", 0)
    if efa:
        resources[EFA_RESOURCE] = str(efa)
    if instance.huge_pages_mib:
        resources["hugepages-2Mi"] = f"{instance.huge_pages_mib}Mi"
    notes.decide(
        "pod of a job",
        ", ".join(f"{count} {name}" for name, count in resources.items()),
        f"the whole node: {_MEMORY_SHARE:.1%} of its memory, less its huge pages and "
        f"{_reserved_mib(max_pods[smallest.name])} MiB for the kubelet and add-ons, and all but "
        f"{kept_vcpus} of its vCPUs"
        + (f"; of {smallest.name}, which has the least for it" if len(node.types) > 1 else ""),
    )
    defaults = {"TRAINSHED_DEVICES": json.dumps(node.devices)}
    nodes = notes.spec.instance.nodes.max
    if family in _SOCKET_VARIABLE and (nodes > 1 or efa):
        defaults[_SOCKET_VARIABLE[family]] = _INTERFACE
    defaults |= network_environment(instance, node.devices, nodes)
    # Names only: a value of the file may be one that should not be in a log.
    environment = defaults | job.environment
    notes.decide("job environment", ", ".join(environment), "as asked, and what the node needs")
    return PodPlan(
        resources=resources,
        taint=accelerator,
        shared_memory_mib=shared_memory_mib,
        environment=environment,
        folders=node.folders,
    )


def _memory_mib(instance: InstanceType, max_pods: int) -> int:
    """Return the memory of a node that is left for the pod, in MiB."""
    usable = int(instance.memory_mib * _MEMORY_SHARE)
    return usable - _reserved_mib(max_pods) - instance.huge_pages_mib


def _reserved_mib(max_pods: int) -> int:
    """Return the memory that the kubelet keeps, and that add-ons ask for, in MiB."""
    return _RESERVED_MIB + _RESERVED_MIB_PER_POD * max_pods + _ADD_ONS_MIB
