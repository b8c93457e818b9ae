"""What our AMIs are for: an accelerator and the agent that starts the work, together a cell.

A node of EKS has the kubelet of its cluster's Kubernetes, so each minor version is an agent of its
own, for instance `eks-1.35`.
"""

from enum import StrEnum


class Cell(StrEnum):
    """What an AMI is for: an accelerator, and what starts the work on it."""

    HABANA_EC2 = "habana/ec2"
    HABANA_ECS = "habana/ecs"
    HABANA_EKS_1_34 = "habana/eks-1.34"
    HABANA_EKS_1_35 = "habana/eks-1.35"
    HABANA_EKS_1_36 = "habana/eks-1.36"
    NEURON_EC2 = "neuron/ec2"
    NEURON_ECS = "neuron/ecs"
    NEURON_EKS_1_34 = "neuron/eks-1.34"
    NEURON_EKS_1_35 = "neuron/eks-1.35"
    NEURON_EKS_1_36 = "neuron/eks-1.36"
    NVIDIA_EC2 = "nvidia/ec2"
    NVIDIA_ECS = "nvidia/ecs"
    NVIDIA_EKS_1_34 = "nvidia/eks-1.34"
    NVIDIA_EKS_1_35 = "nvidia/eks-1.35"
    NVIDIA_EKS_1_36 = "nvidia/eks-1.36"

    @property
    def accelerator(self) -> str:
        """The first part, for instance `neuron`."""
        return self.partition("/")[0]

    @property
    def agent(self) -> str:
        """The second part, for instance `ecs` or `eks-1.35`."""
        return self.partition("/")[2]


ACCELERATORS = tuple(dict.fromkeys(cell.accelerator for cell in Cell))
AGENTS = tuple(dict.fromkeys(cell.agent for cell in Cell))
