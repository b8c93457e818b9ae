"""Which AMIs have the client of which shared storage."""

from collections.abc import Mapping

from trainshed.pins.model import Pins
from trainshed.pins.recipe import ami_recipe

# By field of a cluster file's `storage`, the component that nodes mount it with.
STORAGE_CLIENTS: Mapping[str, str] = {
    "lustre": "lustre-client",
    "efs": "efs-utils",
    "openzfs": "nfs-client",
    "bucket": "mountpoint-s3",
}


def bases_that_mount(pins: Pins, kind: str, accelerator: str, agent: str) -> tuple[str, ...]:
    """Return the bases on which the AMIs of a cell have the client of a kind of shared storage.

    Args:
        pins: of packer/pins.json.
        kind: of storage, by its field: a key of `STORAGE_CLIENTS`.
        accelerator: `habana`, `neuron` or `nvidia`.
        agent: `ec2`, `ecs`, or `eks-` and a minor version of Kubernetes.
    """
    client = STORAGE_CLIENTS[kind]
    return tuple(
        base
        for base in pins.bases_with(accelerator, agent)
        if client in ami_recipe(pins, accelerator, agent, base).components
    )
