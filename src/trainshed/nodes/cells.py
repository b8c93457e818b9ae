"""What our AMIs are for: an accelerator and the agent that starts the work, together a cell."""

from enum import StrEnum


class Cell(StrEnum):
    """What an AMI is baked for: an accelerator, and what starts the work on it."""

    HABANA_EC2 = "habana/ec2"
    HABANA_ECS = "habana/ecs"
    HABANA_EKS = "habana/eks"
    NEURON_EC2 = "neuron/ec2"
    NEURON_ECS = "neuron/ecs"
    NEURON_EKS = "neuron/eks"
    NVIDIA_EC2 = "nvidia/ec2"
    NVIDIA_ECS = "nvidia/ecs"
    NVIDIA_EKS = "nvidia/eks"

    @property
    def accelerator(self) -> str:
        """The first part, for instance `neuron`."""
        return self.partition("/")[0]

    @property
    def agent(self) -> str:
        """The second part, for instance `ecs`."""
        return self.partition("/")[2]


ACCELERATORS = tuple(dict.fromkeys(cell.accelerator for cell in Cell))
AGENTS = tuple(dict.fromkeys(cell.agent for cell in Cell))
