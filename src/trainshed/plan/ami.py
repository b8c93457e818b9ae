"""The AMI of the nodes."""

import re
from dataclasses import dataclass, replace

from trainshed.ami.channel import Channel, is_channel_name
from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.nodes.cells import ACCELERATORS
from trainshed.pins.reader import project_pins
from trainshed.plan.ami_remedy import bake_commands, cell_of, remedy_for
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.plan.notes import Notes

AMI_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
# Of AWS's own AMIs, for accelerators that we bake none for.
_ROOT_OF_AMAZON_LINUX = "/dev/xvda"
# SSM API reference, PutParameter, Name; a hierarchy begins with a slash.
_PARAMETER = re.compile(r"(?:/[\w.-]+)+", re.ASCII)
_VERSION = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiPlan:
    """The AMI of the nodes.

    Attributes:
        asked: what to look for: an AMI id, or the name of the SSM parameter that holds one.
        version: version of the parameter to read; None for the one that is there when the stack
            first reads it.
        cell: which of our AMIs it must be, for instance `neuron/ecs`; None when we bake none for
            the nodes.
        remedy: what to do when there is no such AMI.
        bake: commands that bake it and publish it under what was asked for; none where we cannot.
        root_device: device name of its root volume.
    """

    asked: str
    version: int | None = None
    cell: str | None
    remedy: str
    bake: tuple[str, ...]
    root_device: str

    @property
    def parameter(self) -> str | None:
        """Name of the SSM parameter; None for an AMI id."""
        return self.asked if self.asked.startswith("/") else None


def plan_ami(
    notes: Notes,
    instance: InstanceType,
    region: str | None,
    control_plane: ControlPlanePlan | None,
) -> AmiPlan | None:
    """Resolve `instance.ami` to an id or a parameter.

    Args:
        notes: for decisions and problems.
        instance: the nodes' type.
        region: the cluster's.
        control_plane: that the nodes join, if any.
    """
    asked = notes.spec.instance.ami
    family = instance.accelerator.family
    cell = cell_of(instance, notes.spec.orchestrator, control_plane)
    plan = AmiPlan(
        asked=asked,
        cell=cell,
        remedy=remedy_for(asked, cell, instance, region),
        # A version of a parameter that is not there cannot be made.
        bake=() if ":" in asked else bake_commands(asked, cell, instance, region),
        root_device=_root_device(family, cell),
    )
    if asked.startswith("ami-"):
        _check_id(notes, asked)
        return plan
    name, colon, version = asked.partition(":")
    if colon and not _VERSION.fullmatch(version):
        notes.problem(
            "instance.ami",
            f"{asked!r} is not allowed: after the colon comes a version of the SSM parameter, a "
            f"whole number from 1, for instance {name or 'stable'}:7",
        )
        return None
    parameter = (
        _parameter(notes, name) if name.startswith("/") else _channel(notes, name, cell, instance)
    )
    if parameter is None:
        return None
    why = "as asked"
    if name != parameter and cell:
        why = f"our own channel {name!r} for {cell}"
        if project_pins().why_none(*cell.split("/")):
            why += ", for which trainshed bakes no AMI"
    notes.decide(
        "ami",
        f"{parameter}{colon}{version}",
        f"{why}; exactly this version of the SSM parameter"
        if version
        else f"{why}; the id that the SSM parameter holds at the first deployment stays until "
        f"instance.ami changes, for instance to {name}:2",
    )
    return replace(plan, asked=parameter, version=int(version) if version else None)


def _check_id(notes: Notes, asked: str) -> None:
    if not AMI_ID.fullmatch(asked):
        notes.problem("instance.ami", f"{asked!r} is not an AMI id (ami- and 8 or 17 hex digits)")
    notes.decide("ami", asked, "as asked")


def _parameter(notes: Notes, name: str) -> str | None:
    if not _PARAMETER.fullmatch(name):
        notes.problem(
            "instance.ami",
            f"{name!r} is not the name of an SSM parameter (letters, digits and . _ -, in levels "
            "that each begin with /)",
        )
        return None
    return name


def _channel(notes: Notes, name: str, cell: str | None, instance: InstanceType) -> str | None:
    if not is_channel_name(name):
        notes.problem(
            "instance.ami",
            f"{name!r} is not allowed (allowed: a channel like stable, an SSM parameter /..., "
            "either with a version like stable:7, or an AMI id)",
        )
        return None
    if cell is None:
        notes.problem(
            "instance.ami",
            f"there is no {name!r} AMI for {instance.name} ({instance.accelerator.family}, "
            f"{instance.architecture}): "
            f"ours are x86_64, for {', '.join(ACCELERATORS)}; give an AMI id or an SSM parameter",
        )
        return None
    return Channel(cell=cell, name=name).parameter


def _root_device(family: AcceleratorFamily, cell: str | None) -> str:
    """Return the name that the AMIs of a cell give their root volume.

    A launch template with another name would give the node a second, empty volume.
    """
    if family not in ACCELERATORS:
        return _ROOT_OF_AMAZON_LINUX
    pins = project_pins()
    agent = cell.partition("/")[2] if cell else ""
    return pins.bases[pins.base_of(family, agent)].root_device
