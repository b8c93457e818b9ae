"""Scratch space: the instance store of a node, as its first boot mounts it."""

from trainshed.catalogue import InstanceType
from trainshed.nodes.folders import SCRATCH
from trainshed.plan.notes import Notes


def plan_scratch(notes: Notes, instance: InstanceType) -> str | None:
    """Return where a node's scratch space is, or None where its type has no instance store."""
    if not instance.local_storage_gb:
        notes.decide("scratch space", "none", f"{instance.name} has no instance store")
        return None
    notes.decide(
        "scratch space",
        f"{SCRATCH}, {instance.local_storage_gb} GB",
        "the instance store of each node, which every user may write; it is lost with the node",
    )
    return SCRATCH
