"""Why a deployment exchanges the nodes of a compute environment or an Auto Scaling group."""

import re
from collections.abc import Iterator
from typing import Any

from trainshed.review.model import Effect, ResourceChange
from trainshed.review.risks.affected import Affected

_ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
HAS_NODES = (_ENVIRONMENT, "AWS::AutoScaling::AutoScalingGroup")
"""Types of resources that launch nodes."""
# AWS Batch user guide, "Updating compute environments": these are infrastructure updates. Others,
# such as the number of vCPUs and the state, are scaling updates.
_OF_AN_ENVIRONMENT = (
    "AllocationStrategy",
    "BidPercentage",
    "Ec2Configuration",
    "Ec2KeyPair",
    "ImageId",
    "InstanceRole",
    "InstanceTypes",
    "LaunchTemplate",
    "PlacementGroup",
    "SecurityGroupIds",
    "Subnets",
    "Tags",
    "Type",
    "UpdateToLatestImageVersion",
)
_OF_A_GROUP = (
    "LaunchConfigurationName",
    "LaunchTemplate",
    "MixedInstancesPolicy",
    "PlacementGroup",
    "VPCZoneIdentifier",
)
_PROPERTY = re.compile(r"(?:ComputeResources\.)?(\w+)")
_LAUNCH_TEMPLATE = "AWS::EC2::LaunchTemplate"


def new_nodes(affected: Affected) -> tuple[str, ...]:
    """Return what of a change is for new nodes only, so that present ones must go.

    Also of a resource that looks the same: its launch template gets another version, or a custom
    resource may give another AMI.
    """
    of_environment = affected.change.resource_type == _ENVIRONMENT
    wanted = _OF_AN_ENVIRONMENT if of_environment else _OF_A_GROUP
    own = [each.path for each in affected.change.properties if _name(each.path) in wanted]
    properties = affected.new.get("Properties", {})
    given = properties.get("ComputeResources", {}) if of_environment else properties
    used = [reference for name in wanted for reference in _references(given.get(name))]
    changed = {each.logical_id: each for each in affected.stack.resources}
    reasons = (_reason(changed[name], attribute) for name, attribute in used if name in changed)
    return tuple(dict.fromkeys([*own, *filter(None, reasons)]))


def _name(path: str) -> str:
    found = _PROPERTY.match(path)
    return found[1] if found else path


def _references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the resources that a value refers to, and the attributes of them."""
    match value:
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            yield name, attribute
        case dict():
            for entry in value.values():
                yield from _references(entry)
        case list():
            for element in value:
                yield from _references(element)


def _reason(change: ResourceChange, attribute: str) -> str | None:
    if change.effect not in (Effect.CHANGED, Effect.REPLACED):
        return None
    # A list that gains several elements is there with each of them.
    paths = dict.fromkeys(each.path for each in change.properties)
    if change.resource_type == _LAUNCH_TEMPLATE and attribute == "LatestVersionNumber":
        data = [path for path in paths if path.startswith("LaunchTemplateData")]
        return f"a new version of {change.name} ({', '.join(data)})" if data else None
    if change.resource_type.startswith("Custom::"):
        return f"{change.name}, which may give another {attribute}"
    return None
