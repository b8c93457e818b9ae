"""What Batch refuses in the computeResources of a managed compute environment.

Batch API reference and user guide: security groups and launch-template interfaces exclude each
other ("Either compute environment Security Groups or Network Interfaces in Launch template are
exclusively allowed"); allocation strategies, image types (new Amazon Linux 2 environments blocked
since 2026-06-30; ECS_AL2023_NVIDIA runs no p3 and no g3), user data is MIME multipart; launch
template version ($Default unless given); a cluster placement group lies in one zone. Inferred: on
AWS some of it (instance profile, type not offered in a zone, interfaces the type cannot have) shows
only as status INVALID of the environment made, or as jobs stuck in RUNNABLE. Here the call itself
is refused, with EC2's words, so that a deployment fails where the mistake is.
"""

from base64 import b64decode
from collections.abc import Iterable, Mapping
from datetime import date
from email import message_from_bytes
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.batch.refusals import check_between, check_one_of, refuse
from embedded_aws.clock import today
from embedded_aws.ec2 import placement_groups
from embedded_aws.ec2.ami_ids import is_ami_id
from embedded_aws.ec2.instance_types import family_records, require
from embedded_aws.ec2.launch_templates import TemplateData, template_data
from embedded_aws.ec2.launches import check_launch
from embedded_aws.ec2.subnets import check_groups, subnet_of
from embedded_aws.iam.roles import instance_profile_exists, role_exists

# computeResources, as the API takes it.
Resources = Mapping[str, Any]

EC2_TYPES = ("EC2", "SPOT")
# What an environment of type SPOT adds to the launches of its launch template.
ON_SPOT = {"MarketType": "spot"}
_STRATEGIES = {
    "EC2": ("BEST_FIT", "BEST_FIT_PROGRESSIVE", "BEST_FIT_PROGRESSIVE_ORDERED"),
    "SPOT": (
        "BEST_FIT",
        "BEST_FIT_PROGRESSIVE",
        "SPOT_CAPACITY_OPTIMIZED",
        "SPOT_PRICE_CAPACITY_OPTIMIZED",
        "SPOT_CAPACITY_OPTIMIZED_PRIORITIZED",
    ),
}
_IMAGE_TYPES = (
    *("ECS_AL2", "ECS_AL2_NVIDIA", "ECS_AL2023", "ECS_AL2023_NVIDIA"),
    *("EKS_AL2", "EKS_AL2_NVIDIA", "EKS_AL2023", "EKS_AL2023_NVIDIA"),
)
_AL2_BLOCKED = date(2026, 6, 30)
_ANY_TYPE = ("optimal", "default_x86_64", "default_arm64")
_NO_AL2023_NVIDIA = ("p3", "g3")
# API reference, ComputeScalingPolicy; 0 is none.
_DELAY_MINUTES = (20, 10_080)
_MAXIMUM_SUBNETS = 16
_MAXIMUM_GROUPS = 5


def check_compute_resources(call: Call, resources: Resources) -> None:
    """Refuse compute resources that Batch or EC2 would refuse.

    Raises:
        Refusal: ClientException.
    """
    kind = resources["type"]
    if kind == "ECS_MANAGED_INSTANCES":
        raise refuse("the embedded AWS has no compute resources of type ECS_MANAGED_INSTANCES.")
    subnet_ids = resources.get("subnets", [])
    if not 1 <= len(subnet_ids) <= _MAXIMUM_SUBNETS:
        raise refuse(f"Between 1 and {_MAXIMUM_SUBNETS} subnets must be provided.")
    _check_vcpus(resources)
    if minutes := resources.get("scalingPolicy", {}).get("minScaleDownDelayMinutes"):
        check_between("minScaleDownDelayMinutes", minutes, *_DELAY_MINUTES)
    try:
        if kind in EC2_TYPES:
            _check_ec2(call, resources)
        else:
            _check_network(call, resources, {})
    except Refusal as refusal:
        if refusal.code == "ClientException":
            raise
        raise refuse(refusal.message) from refusal


def default_image_type(names: Iterable[str]) -> str:
    """Return the image type that Batch chooses for types or families when none is given."""
    families = {name.partition(".")[0] for name in names}.difference(_NO_AL2023_NVIDIA)
    gpus = (
        gpu
        for family in families
        for record in family_records(family)
        for gpu in record.get("GpuInfo", {}).get("Gpus", [])
    )
    nvidia = any(gpu["Manufacturer"] == "NVIDIA" for gpu in gpus)
    return "ECS_AL2023_NVIDIA" if nvidia else "ECS_AL2023"


def launch_template(call: Call, resources: Resources) -> TemplateData:
    """Return the data of the launch template version that the resources name, or nothing."""
    template = resources.get("launchTemplate")
    if not template:
        return {}
    return template_data(
        call,
        {
            "LaunchTemplateId": template.get("launchTemplateId"),
            "LaunchTemplateName": template.get("launchTemplateName"),
            "Version": template.get("version"),
        },
    )


def _check_vcpus(resources: Resources) -> None:
    least, most = resources.get("minvCpus", 0), resources["maxvCpus"]
    desired = resources.get("desiredvCpus", least)
    if not 0 <= least <= desired <= most:
        raise refuse(
            f"minvCpus {least}, desiredvCpus {desired} and maxvCpus {most} must be in this order, "
            "from small to large."
        )


def _check_network(call: Call, resources: Resources, template: TemplateData) -> None:
    groups = resources.get("securityGroupIds", [])
    in_template = bool(template.get("NetworkInterfaces"))
    if groups and in_template:
        raise refuse(
            "Either compute environment Security Groups or Network Interfaces in Launch template "
            "are exclusively allowed"
        )
    if not (groups or in_template or template.get("SecurityGroupIds")):
        raise refuse("At least one security group must be provided.")
    if len(groups) > _MAXIMUM_GROUPS:
        raise refuse(f"At most {_MAXIMUM_GROUPS} security groups can be provided.")
    subnets = [subnet_of(call, subnet_id) for subnet_id in resources["subnets"]]
    if len({subnet.vpc_id for subnet in subnets}) > 1:
        raise refuse("The subnets must be within the same VPC.")
    for subnet in subnets:
        check_groups(call, groups, subnet)


def _check_ec2(call: Call, resources: Resources) -> None:
    kind = resources["type"]
    strategy = resources.get("allocationStrategy", "BEST_FIT")
    if strategy not in _STRATEGIES[kind]:
        raise refuse(
            f"allocationStrategy {strategy} is not valid for type {kind}; "
            f"use one of {', '.join(_STRATEGIES[kind])}."
        )
    if kind == "EC2" and resources.get("bidPercentage") is not None:
        raise refuse("bidPercentage is only for compute resources of type SPOT.")
    if kind == "SPOT" and strategy == "BEST_FIT" and not resources.get("spotIamFleetRole"):
        raise refuse("spotIamFleetRole is required for type SPOT with BEST_FIT.")
    if (fleet_role := resources.get("spotIamFleetRole")) and not role_exists(call, fleet_role):
        raise refuse(f"spotIamFleetRole {fleet_role} does not exist.")
    profile = resources.get("instanceRole")
    if not profile:
        raise refuse("instanceRole is required.")
    if not instance_profile_exists(call, profile):
        raise refuse(f"Invalid IamInstanceProfile: {profile}")
    template = launch_template(call, resources)
    _check_network(call, resources, template)
    _check_user_data(template)
    types = _instance_types(resources)
    _check_amis(resources, template)
    _check_placement(call, resources, template, types)
    for instance_type in types:
        for subnet_id in resources["subnets"]:
            # Batch ignores the template's own type and subnets, and sets the groups itself.
            data = {key: value for key, value in template.items() if key != "InstanceType"}
            data["NetworkInterfaces"] = [
                {key: value for key, value in interface.items() if key != "SubnetId"}
                for interface in template.get("NetworkInterfaces", [])
            ]
            if kind == "SPOT":
                data["InstanceMarketOptions"] = ON_SPOT
            check_launch(call, instance_type, subnet_id, data)


def _check_user_data(template: TemplateData) -> None:
    """Refuse user data into which Batch cannot merge its own part."""
    if not template.get("UserData"):
        return
    text = b64decode(str(template["UserData"]))
    if not message_from_bytes(text).is_multipart():
        raise refuse("Launch Template UserData is not MIME multipart format")


def _instance_types(resources: Resources) -> list[str]:
    """Return the exact instance types, without families and `optimal`."""
    names = resources.get("instanceTypes", [])
    if not names:
        raise refuse("At least one instance type must be provided.")
    for name in names:
        if "." in name:
            require(name)
        elif name not in _ANY_TYPE and not family_records(name):
            raise refuse(f"Instance type can only be one of those of the region, not {name}.")
    return [name for name in names if "." in name]


def _check_amis(resources: Resources, template: TemplateData) -> None:
    configurations = resources.get("ec2Configuration", [])
    if len(configurations) > 2:
        raise refuse("At most 2 ec2Configuration entries can be provided.")
    overrides = [each.get("imageIdOverride") for each in configurations]
    for ami in (resources.get("imageId"), *overrides):
        if ami and not is_ami_id(ami):
            raise refuse(f'Invalid id: "{ami}" (expecting "ami-...")')
    for configuration in configurations:
        image_type = configuration["imageType"]
        own_ami = configuration.get("imageIdOverride") or template.get("ImageId")
        check_one_of("imageType", image_type, _IMAGE_TYPES)
        amazon_linux_2 = image_type in ("ECS_AL2", "ECS_AL2_NVIDIA") and not own_ami
        if amazon_linux_2 and today() >= _AL2_BLOCKED:
            raise refuse(
                "Creating compute environments with Batch-provided Amazon Linux 2 AMIs "
                f"({image_type}) is blocked since {_AL2_BLOCKED}; use ECS_AL2023."
            )
        if image_type == "ECS_AL2023_NVIDIA":
            for name in resources.get("instanceTypes", []):
                if name.partition(".")[0] in _NO_AL2023_NVIDIA:
                    raise refuse(f"imageType {image_type} doesn't support instance type {name}.")


def _check_placement(
    call: Call, resources: Resources, template: TemplateData, types: list[str]
) -> None:
    name = resources.get("placementGroup") or template.get("Placement", {}).get("GroupName")
    if not name:
        return
    group = placement_groups.find(call, name)
    zones = sorted({subnet_of(call, subnet).availability_zone for subnet in resources["subnets"]})
    if group["Strategy"] == "cluster" and len(zones) > 1:
        raise refuse(
            f"Placement group {name} has the strategy cluster and cannot span Availability Zones, "
            f"but the subnets are in {', '.join(zones)}."
        )
    for instance_type in types:
        placement_groups.check_launch(call, group, instance_type, zones[0])
