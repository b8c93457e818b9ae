"""The machine image of the nodes."""

import re
from dataclasses import dataclass

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.plan.notes import Notes

_AMI_ID = re.compile(r"ami-(?:[0-9a-f]{8}|[0-9a-f]{17})")
_CHANNEL = re.compile(r"[a-z][a-z0-9-]*")
# What the AMIs of our own channels are baked for.
_BAKED = (AcceleratorFamily.HABANA, AcceleratorFamily.NEURON, AcceleratorFamily.NVIDIA)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiPlan:
    """The machine image of the nodes.

    Attributes:
        image_id: an AMI id, or None.
        parameter: name of the SSM parameter that holds an AMI id, or None.
        batch_image_type: AWS Batch's `imageType`.
    """

    image_id: str | None
    parameter: str | None
    batch_image_type: str


def plan_ami(notes: Notes, instance: InstanceType) -> AmiPlan | None:
    """Resolve `instance.ami` to an id or a parameter."""
    asked = notes.spec.instance.ami
    family = instance.accelerator.family
    image_type = _batch_image_type(instance)
    notes.decide("Batch image type", image_type, f"Amazon Linux 2023, for {family}")
    if asked.startswith("ami-"):
        if not _AMI_ID.fullmatch(asked):
            notes.problem(
                "instance.ami", f"{asked!r} is not an AMI id (ami- and 8 or 17 hex digits)"
            )
        notes.decide("ami", asked, "as asked")
        return AmiPlan(image_id=asked, parameter=None, batch_image_type=image_type)
    if asked.startswith("/"):
        if asked.startswith("/aws/service/ecs/"):
            notes.warn(
                "TS-AMI-001",
                f"{asked} is AWS's ECS image: it has no EFA installer and no Lustre client",
                "use an image of ours, ami: stable, or bake one that has both",
            )
        notes.decide("ami", asked, "as asked, by parameter")
        return AmiPlan(image_id=None, parameter=asked, batch_image_type=image_type)
    if not _CHANNEL.fullmatch(asked):
        notes.problem(
            "instance.ami",
            f"{asked!r} is not allowed (allowed: a channel like stable, an SSM parameter /..., an "
            "AMI id)",
        )
        return None
    if family not in _BAKED or instance.architecture != "x86_64":
        notes.problem(
            "instance.ami",
            f"there is no {asked!r} image for {instance.name} ({family}, {instance.architecture}); "
            "give an AMI id or an SSM parameter",
        )
        return None
    parameter = f"/trainshed/ami/{family}/ecs/{asked}"
    notes.decide("ami", parameter, f"our own channel {asked!r} for {family} on ECS")
    return AmiPlan(image_id=None, parameter=parameter, batch_image_type=image_type)


def _batch_image_type(instance: InstanceType) -> str:
    # There is no Neuron or Gaudi type, and ECS_AL2023_NVIDIA does not take V100 (AWS Batch user
    # guide, compute resource AMIs): those use the plain one with an AMI of their own.
    accelerator = instance.accelerator
    nvidia = accelerator.family is AcceleratorFamily.NVIDIA and accelerator.name != "V100"
    return "ECS_AL2023_NVIDIA" if nvidia else "ECS_AL2023"
