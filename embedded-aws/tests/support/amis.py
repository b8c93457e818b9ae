"""AMIs for tests: one of the account's own, and one that every account can launch."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

_PUBLIC = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
# Groups whose AMI is not there are refused.
AMAZON_LINUX = f"resolve:ssm:{_PUBLIC}"


def own_ami(client: Callable[[str], Any]) -> str:
    """Copy Amazon Linux 2023, and return the copy's id."""
    ec2 = client("ec2")
    image_id: str = ec2.copy_image(
        Name=f"copy-{uuid4().hex[:8]}",
        SourceImageId=client("ssm").get_parameter(Name=_PUBLIC)["Parameter"]["Value"],
        SourceRegion=ec2.meta.region_name,
    )["ImageId"]
    return image_id
