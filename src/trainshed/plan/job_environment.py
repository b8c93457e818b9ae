"""The variables that collective libraries need on a type, wherever the job runs."""

from collections.abc import Mapping

from trainshed.catalogue import AcceleratorFamily, InstanceType

# Sources: Neuron documentation, "multi-node training with EFA"; Habana's hccl_demo README and
# "EFA Peer Direct on Amazon EC2 DL1". RDMAV_FORK_SAFE is for Gaudi only: on newer kernels AWS's
# distributed-training guides warn of it, while Habana requires it. libfabric 1.18 and aws-ofi-nccl
# 1.7 need no FI_ variables.
_EFA: Mapping[AcceleratorFamily, Mapping[str, str]] = {
    AcceleratorFamily.NEURON: {"FI_EFA_USE_DEVICE_RDMA": "1", "FI_PROVIDER": "efa"},
    AcceleratorFamily.HABANA: {"FI_EFA_USE_DEVICE_RDMA": "1", "RDMAV_FORK_SAFE": "1"},
}


def network_environment(
    instance: InstanceType, devices: Mapping[str, int], nodes: int
) -> dict[str, str]:
    """Return the variables for traffic between nodes, over EFA where a node has it.

    Args:
        instance: the nodes' type.
        devices: how many of each kind a node has.
        nodes: how many there are at most.
    """
    if not devices.get("efa"):
        # Without it NCCL first tries its plugin for EFA, which finds nothing.
        return {"NCCL_NET": "Socket"} if nodes > 1 else {}
    variables = dict(_EFA.get(instance.accelerator.family, {}))
    if not instance.efa_rdma:
        variables.pop("FI_EFA_USE_DEVICE_RDMA", None)
    return variables
