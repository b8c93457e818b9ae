"""Public AMIs, found by their exact names if the names follow their owners' naming schemes.

moto has a few hundred of Amazon's AMIs and none of Canonical's recent ones. No list of all
published AMIs exists, so an AMI is created when DescribeImages asks for it by owner and exact name,
if the name follows the owner's scheme and its date is not in the future. The owners' accounts and
schemes: Canonical's and Amazon's documents on finding AMIs.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.ec2.models.amis import Ami

from embedded_aws.actions import Call, action
from embedded_aws.clock import today

_DAY = r"(?P<day>20\d{6})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    owner: str
    alias: str | None
    name: str
    root_device: str
    root_gib: int


_FAMILIES = (
    _Family(
        owner="099720109477",
        alias=None,
        name=(
            r"(ubuntu|ubuntu-eks/k8s_1\.\d\d)/images/"
            r"(hvm-ssd(-gp3)?/ubuntu-jammy-22\.04|hvm-ssd-gp3/ubuntu-noble-24\.04)"
            rf"-amd64-server-{_DAY}(\.\d+)?"
        ),
        root_device="/dev/sda1",
        root_gib=8,
    ),
    _Family(
        owner="137112412989",
        alias="amazon",
        name=rf"al2023-ami-2023\.\d+\.{_DAY}\.\d+-kernel-6\.\d+-x86_64",
        root_device="/dev/xvda",
        root_gib=8,
    ),
    _Family(
        owner="591542846629",
        alias="amazon",
        name=rf"al2023-ami-ecs-hvm-2023\.0\.{_DAY}-kernel-6\.\d+-x86_64",
        root_device="/dev/xvda",
        root_gib=30,
    ),
    _Family(
        owner="602401143452",
        alias="amazon",
        name=rf"amazon-eks-node-al2023-x86_64-standard-1\.\d\d-v{_DAY}",
        root_device="/dev/xvda",
        root_gib=20,
    ),
)


@action("ec2", "DescribeImages")
def describe_images(call: Call) -> Any:
    """Answer with existing AMIs, and with those that this call creates."""
    filters = {each["Name"]: each.get("Values", []) for each in call.params.get("Filters", [])}
    owners = {*call.params.get("Owners", []), *filters.get("owner-id", [])}
    for name in filters.get("name", []):
        for family in _FAMILIES:
            if owners & {family.owner, family.alias}:
                _publish(call, family, name)
    return call.moto()


def _publish(call: Call, family: _Family, name: str) -> None:
    """Create the AMI of this name in the region, if its family has one."""
    match = re.fullmatch(family.name, name)
    if not match:
        return
    try:
        day = datetime.strptime(match["day"], "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return
    if day.date() > today():
        return
    ec2 = call.backend("ec2")
    digits = hashlib.sha256(f"{call.region}{family.owner}{name}".encode()).hexdigest()[:16]
    ami_id = f"ami-0{digits}"
    if ami_id in ec2.amis or any(each.name == name for each in ec2.amis.values()):
        return
    ami: Any = Ami(
        ec2,
        ami_id,
        name=name,
        description=name,
        owner_id=family.owner,
        owner_alias=family.alias,
        public=True,
        virtualization_type="hvm",
        architecture="x86_64",
        hypervisor="xen",
        image_location=f"{family.alias or family.owner}/{name}",
        root_device_type="ebs",
        root_device_name=family.root_device,
        creation_date=day,
        region_name=f"{call.region}a",
        boot_mode="uefi-preferred",
    )
    ami.embedded_aws_mappings = [
        {
            "DeviceName": family.root_device,
            "Ebs": {
                "SnapshotId": ami.ebs_snapshot.id,
                "VolumeSize": family.root_gib,
                "VolumeType": "gp3",
                "DeleteOnTermination": True,
                "Encrypted": False,
            },
        }
    ]
    ec2.amis[ami_id] = ami
