"""The nodes of an eksctl node group, and how they are bought."""

from trainshed.catalogue import InstanceType
from trainshed.catalogue.kubernetes import default_kubernetes
from trainshed.lint.cluster_files.draft import Draft, fits
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.model import Known, Unknown
from trainshed.lint.parts import known_types
from trainshed.lint.read import value_of
from trainshed.pins.joining import has_bootstrap_script
from trainshed.spec import forms

_AMI = "ami-[0-9a-f]{8}([0-9a-f]{9})?"
# Values of amiFamily, in small letters, of AMIs that join as ours do: by nodeadm, or by a script.
_NODEADM, _SCRIPT = "amazonlinux2023", "ubuntu"
_ROOT_GIB, _MOST_NODES = range(30, 16385), 1000


def accelerated_type(group: EksctlGroup) -> InstanceType | Unknown | None:
    """Return the type of a group, of several the first; None without accelerators."""
    types = group.instance_types
    return next(known_types(types.value), None) if isinstance(types, Known) else types


def write_nodes(draft: Draft, group: EksctlGroup, instance: InstanceType) -> None:
    """Write `instance` and `capacity`.

    Args:
        draft: to write into.
        group: the node group.
        instance: its type.
    """
    draft.set("instance", "type", instance.name)
    types = group.instance_types
    if isinstance(types, Known) and len(types.value) > 1:
        draft.note(
            f"instance.type: one of {', '.join(types.value)}; those that are alike may be in "
            "capacity.instance_types, too"
        )
    nodes = value_of(group.nodes) or 1
    draft.set("instance", "nodes", {"max": min(max(nodes, 1), _MOST_NODES)})
    draft.note(f"instance.nodes: all {nodes} nodes are there, and billed, all the time")
    root_gib, ami = value_of(group.root_gib), value_of(group.image)
    if root_gib is not None and root_gib in _ROOT_GIB:
        draft.set("instance", "root_gib", root_gib)
    family = (value_of(group.image_type) or "").lower()
    by_script = has_bootstrap_script(instance.accelerator.family, default_kubernetes().name)
    if fits(_AMI, ami) and family.startswith(_SCRIPT if by_script else _NODEADM):
        draft.set("instance", "ami", ami)
    else:
        draft.note(
            "instance.ami: the channel stable of your own AMIs, which trainshed ami build bakes"
        )
    _write_capacity(draft, group, instance)


def _write_capacity(draft: Draft, group: EksctlGroup, instance: InstanceType) -> None:
    reservation = value_of(group.reservation)
    placement = value_of(group.placement_group)
    if value_of(group.market) == "capacity-block" and fits(forms.BLOCK.pattern, reservation):
        draft.set("capacity", {"capacity_block": reservation})
    elif fits(forms.RESERVATION.pattern, reservation):
        draft.set("capacity", "reservation", reservation)
        if placement:
            draft.set("capacity", "placement_group", placement)
        draft.note("capacity: if that is the id of a Capacity Block, write {capacity_block: ...}")
    elif value_of(group.purchase) == "spot" and "spot" in instance.usage_classes:
        draft.set("capacity", {"spot": {}})
    elif reservation or value_of(group.purchase) not in (None, "on-demand"):
        bought = reservation or value_of(group.purchase)
        draft.note(f"capacity: on demand, in place of {bought}")
    elif placement:
        draft.note(f"a placement group of its own, in place of {placement}")
