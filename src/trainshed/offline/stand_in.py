"""A stand-in for a baked AMI, for clusters of the embedded AWS: nothing is baked into it.

A new account has none of our AMIs, and baking one takes guests or an hour on EC2. Where an AMI id
in a channel is enough, a copy of a public AMI with the tags that `packer/` sets will do: Amazon
Linux, or Ubuntu for habana, whose root volume has another device name.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from trainshed.cells import ACCELERATORS, ORCHESTRATORS
from trainshed.errors import UnknownName

_AMAZON_LINUX = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
_UBUNTU = "/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id"


def add_stand_in(client: Callable[[str], Any], accelerator: str, orchestrator: str) -> str:
    """Add an AMI with the tags of a build to the account, and return its id.

    Args:
        client: gives a boto3 client of a service.
        accelerator: `habana`, `neuron` or `nvidia`.
        orchestrator: `ec2`, `ecs` or `eks`.

    Raises:
        UnknownName: there is no such accelerator or orchestrator.
    """
    for kind, name, known in (
        ("accelerator", accelerator, ACCELERATORS),
        ("orchestrator", orchestrator, ORCHESTRATORS),
    ):
        if name not in known:
            raise UnknownName(kind, name, known)
    ec2, base = client("ec2"), _UBUNTU if accelerator == "habana" else _AMAZON_LINUX
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    name = f"trainshed-{accelerator}-{orchestrator}-stand-in-{stamp}-{uuid4().hex[:8]}"
    tags = {
        "Name": name,
        "trainshed:accelerator": accelerator,
        "trainshed:orchestrator": orchestrator,
        "trainshed:base": "stand-in",
        "trainshed:commit": "none",
        "trainshed:build": stamp,
    }
    marked = [{"Key": key, "Value": value} for key, value in tags.items()]
    image_id: str = ec2.copy_image(
        Name=name,
        SourceImageId=client("ssm").get_parameter(Name=base)["Parameter"]["Value"],
        SourceRegion=ec2.meta.region_name,
        TagSpecifications=[
            {"ResourceType": kind, "Tags": marked} for kind in ("image", "snapshot")
        ],
    )["ImageId"]
    return image_id
