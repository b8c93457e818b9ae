"""The container of a job of AWS Batch: its share of the node, and how it finds it."""

import json
from collections.abc import Mapping

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.orchestrators.batch.traits import BatchJobSpec
from trainshed.plan.container import ContainerPlan
from trainshed.plan.job_environment import network_environment
from trainshed.plan.jobs import PlannedNode
from trainshed.plan.notes import Notes

# ECS registers less memory than the type has: the kernel, firmware and the agent keep some, and
# a job that asks for more is never placed. 7.5 % is the allowance that Karpenter uses too; AWS
# Batch's guide asks for 5 % beside what the kernel and firmware keep. ECS does not know of huge
# pages: they are in what it registers, and not in what the container's limit counts, so that a
# container that were promised them as well could take memory that is not there.
_MEMORY_SHARE = 0.925

# Beside the job's own interface, eth0, an awsvpc container has ecs-eth0, whose link-local address
# no other node reaches. By default a collective library takes the first interface that it finds, so
# name eth0, as AWS's Batch samples do for Neuron and NVIDIA, and HCCL's source asks for.
_SOCKET_ENVIRONMENT: Mapping[AcceleratorFamily, dict[str, str]] = {
    AcceleratorFamily.NEURON: {"CCOM_SOCKET_IFNAME": "eth0"},
    AcceleratorFamily.HABANA: {"HCCL_SOCKET_IFNAME": "eth0"},
    AcceleratorFamily.NVIDIA: {"NCCL_SOCKET_IFNAME": "^lo,docker,ecs"},
}
_ENVIRONMENT: Mapping[AcceleratorFamily, Mapping[str, str]] = {
    AcceleratorFamily.HABANA: {
        "HABANA_VISIBLE_DEVICES": "all",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    },
}


def plan_container(notes: Notes, job: BatchJobSpec, node: PlannedNode) -> ContainerPlan:
    """Give the whole node to the container.

    Args:
        notes: for decisions and problems.
        job: what was asked of jobs.
        node: that it has.
    """
    instance = node.instance
    family = instance.accelerator.family
    # The container is to fit on a node of each type.
    smallest = min(node.types, key=_memory_mib)
    efa_devices, nodes = node.devices.get("efa", 0), notes.spec.instance.nodes.max
    memory_mib = _memory_mib(smallest)
    shared_memory_mib = (job.shared_memory_gib or 0) * 1024 or memory_mib // 8
    if shared_memory_mib > memory_mib:
        notes.problem(
            "job.shared_memory_gib",
            f"{job.shared_memory_gib} GiB is more than the container's memory, "
            f"{memory_mib // 1024} GiB on {smallest.name}",
        )
    for name in job.environment:
        # AWS Batch user guide, "AWS Batch job environment variables".
        if name.startswith("AWS_BATCH"):
            notes.problem(
                ("job", "environment", name),
                "names that begin with AWS_BATCH are AWS Batch's own; rename it",
            )
    # trainshed-launch compares them with what the container finds.
    defaults = {"TRAINSHED_DEVICES": json.dumps(node.devices), **_ENVIRONMENT.get(family, {})}
    # On Spot a container has the network of its node, whose interfaces have other names.
    if not notes.spec.on_spot and (nodes > 1 or efa_devices):
        defaults |= _SOCKET_ENVIRONMENT.get(family, {})
    defaults |= network_environment(instance, node.devices, nodes)
    # By number, as a job definition must. Our AMIs give EFA's devices the first ones, and our
    # images' entrypoint ends a job that sees another: libfabric would go over TCP, and say nothing.
    devices = [f"/dev/infiniband/uverbs{index}" for index in range(efa_devices)]
    if family is AcceleratorFamily.NEURON:
        devices += [f"/dev/neuron{index}" for index in range(instance.accelerator.count)]
    huge_pages = (
        f", less {smallest.huge_pages_mib} MiB of huge pages, which containers use beside it"
        if smallest.huge_pages_mib
        else ""
    )
    notes.decide(
        "container memory",
        f"{memory_mib} MiB",
        f"{_MEMORY_SHARE:.1%} of {smallest.memory_mib} MiB{huge_pages}; the kernel and ECS keep "
        "the rest" + (f"; of {smallest.name}, which has the least" if len(node.types) > 1 else ""),
    )
    return ContainerPlan(
        vcpus=instance.vcpus,
        memory_mib=memory_mib,
        gpus=instance.accelerator.count if family is AcceleratorFamily.NVIDIA else 0,
        devices=tuple(devices),
        shared_memory_mib=shared_memory_mib,
        environment=defaults | job.environment,
        folders=node.folders,
    )


def _memory_mib(instance: InstanceType) -> int:
    """Return the memory that a container may have on a node, in MiB."""
    return int(instance.memory_mib * _MEMORY_SHARE) - instance.huge_pages_mib
