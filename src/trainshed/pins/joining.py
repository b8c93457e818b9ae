"""By what the nodes of our AMIs join a cluster of Amazon EKS."""

from trainshed.catalogue import AcceleratorFamily
from trainshed.nodes.cells import ACCELERATORS
from trainshed.pins.model import family_of
from trainshed.pins.reader import project_pins


def has_bootstrap_script(family: AcceleratorFamily, kubernetes: str) -> bool:
    """Whether they have Canonical's script, as on Ubuntu, and not nodeadm.

    An AMI of the user's has what ours has. Accelerators without AMIs of ours have AWS's alone.

    Args:
        family: of the nodes' accelerator.
        kubernetes: minor version of the cluster.
    """
    if family not in ACCELERATORS:
        return False
    return family_of(project_pins().base_of(family, f"eks-{kubernetes}")) == "ubuntu"
