"""A stand-in for a baked AMI, for clusters of the embedded AWS: nothing is baked into it.

A new account has none of our AMIs, and baking one takes guests or an hour on EC2. Where an AMI id
in a channel is enough, a copy of a public AMI of the same base with the tags that `packer/` sets
will do.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from trainshed.app.sources import packer_folder
from trainshed.errors import UnknownName
from trainshed.nodes.cells import AGENTS
from trainshed.pins.reader import read_pins

# Where Amazon and Canonical publish the AMI of a base.
_CANONICAL = "/aws/service/canonical/ubuntu/server/{}/stable/current/amd64/hvm/{}/ami-id"
_PARAMETERS = {
    "amazon-linux-2023": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
    "ubuntu-22.04": _CANONICAL.format("22.04", "ebs-gp2"),
    "ubuntu-24.04": _CANONICAL.format("24.04", "ebs-gp3"),
    "ubuntu-24.04_6.8": _CANONICAL.format("24.04", "ebs-gp3"),
}


def add_stand_in(client: Callable[[str], Any], accelerator: str, agent: str) -> str:
    """Add an AMI with the tags of a build to the account, and return its id.

    Args:
        client: gives a boto3 client of a service.
        accelerator: `habana`, `neuron` or `nvidia`.
        agent: `ec2`, `ecs`, or `eks-` and a minor version of Kubernetes.

    Raises:
        UnknownName: there is no such accelerator or agent.
    """
    base = read_pins(packer_folder() / "pins.json").base_of(accelerator, agent)
    if agent not in AGENTS:
        raise UnknownName("agent", agent, AGENTS)
    ec2 = client("ec2")
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    name = f"trainshed-{accelerator}-{agent}-{base}-{stamp}-stand-in-{uuid4().hex[:8]}"
    tags = {
        "Name": name,
        "trainshed:accelerator": accelerator,
        "trainshed:orchestrator": agent,
        "trainshed:base": base,
        "trainshed:commit": "none",
        "trainshed:build": stamp,
    }
    marked = [{"Key": key, "Value": value} for key, value in tags.items()]
    image_id: str = ec2.copy_image(
        Name=name,
        SourceImageId=client("ssm").get_parameter(Name=_PARAMETERS[base])["Parameter"]["Value"],
        SourceRegion=ec2.meta.region_name,
        TagSpecifications=[
            {"ResourceType": kind, "Tags": marked} for kind in ("image", "snapshot")
        ],
    )["ImageId"]
    return image_id
