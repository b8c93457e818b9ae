"""Auto Scaling groups: created, changed, deleted, described.

[S] API reference, also: a new minimum or maximum moves the desired capacity with it if the request
names none; a group with instances is deleted only by force, which ends them. [S] The words, seen
in many projects' logs: of sizes, of names that exist or do not. [I] Those about subnets and of
instances left in the group. moto's groups launch without EC2's checks, and have no activities.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action
from embedded_aws.autoscaling import launches
from embedded_aws.autoscaling.activities import at_this_time
from embedded_aws.autoscaling.convergence import converge, end
from embedded_aws.autoscaling.group import Group, find, groups, guard
from embedded_aws.autoscaling.pages import page
from embedded_aws.autoscaling.refusals import bad_template, invalid, unsupported
from embedded_aws.autoscaling.tags import put
from embedded_aws.autoscaling.termination import check_policies
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.ec2.subnets import subnet_of

# What a group may have beside its name and tags. Cooldown, warm-up and grace period have no effect:
# they are for scaling policies and for other health checks, which are not there.
_DEFAULTS: Mapping[str, Any] = {
    "DefaultCooldown": 300,
    "HealthCheckGracePeriod": 0,
    "HealthCheckType": "EC2",
    "NewInstancesProtectedFromScaleIn": False,
    "TerminationPolicies": ["Default"],
}
_OTHERS = (
    *("AvailabilityZones", "Context", "DefaultInstanceWarmup", "DesiredCapacity"),
    *("LaunchTemplate", "MaxSize", "MinSize", "PlacementGroup", "ServiceLinkedRoleARN"),
    *("SkipZonalShiftValidation", "VPCZoneIdentifier"),
)
# The only values of these, beside none, with which nothing else happens than without them.
_NEUTRAL: Mapping[str, Any] = {
    "CapacityRebalance": False,
    "DeletionProtection": "none",
    "DesiredCapacityType": "units",
    "HealthCheckType": "EC2",
    "MaxInstanceLifetime": 0,
}


@action("autoscaling", "CreateAutoScalingGroup")
def create_auto_scaling_group(call: Call) -> dict[str, Any]:
    """Create a group and launch its instances."""
    given = dict(call.params)
    name, tags = given.pop("AutoScalingGroupName"), given.pop("Tags", [])
    with guard:
        if name in groups(call):
            raise Refusal(
                "AlreadyExists",
                "AutoScalingGroup by this name already exists - A group with the name "
                f"{name} already exists",
            )
        arn = f"autoScalingGroup:{mock_random.uuid4()}:autoScalingGroupName/{name}"
        role = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
        fields: Row = {
            "AutoScalingGroupName": name,
            "AutoScalingGroupARN": call.arn("autoscaling", arn),
            "LoadBalancerNames": [],
            "TargetGroupARNs": [],
            "EnabledMetrics": [],
            "CreatedTime": datetime.now(UTC),
            "ServiceLinkedRoleARN": f"arn:aws:iam::{call.account}:{role}",
            **_DEFAULTS,
            "DesiredCapacity": given["MinSize"],
            **_checked(call, given),
        }
        group = Group(call=call, fields=fields)
        _check(group, call)
        put(group, tags)
        groups(call)[name] = group
        converge(
            group,
            at_this_time(
                "a user request created an AutoScalingGroup changing the desired capacity from 0 "
                f"to {group.desired}."
            ),
        )
    return {}


@action("autoscaling", "UpdateAutoScalingGroup")
def update_auto_scaling_group(call: Call) -> dict[str, Any]:
    """Change a group; instances that it has remain as they are."""
    given = dict(call.params)
    with guard:
        group = find(call, given.pop("AutoScalingGroupName"))
        before, old = group.fields, group.desired
        group.fields = {**before, **_checked(call, given)}
        if "DesiredCapacity" not in given:
            low, high = group.fields["MinSize"], group.fields["MaxSize"]
            group.fields["DesiredCapacity"] = max(low, min(old, high))
        try:
            _check(group, call)
        except Refusal:
            group.fields = before
            raise
        sizes = ", ".join(
            f"{word}: {group.fields[name]}"
            for word, name in (
                ("min", "MinSize"),
                ("max", "MaxSize"),
                ("desired", "DesiredCapacity"),
            )
        )
        changing = f"changing the desired capacity from {old} to {group.desired}."
        what = f"a user request update of AutoScalingGroup constraints to {sizes} {changing}"
        converge(group, at_this_time(what))
    return {}


@action("autoscaling", "SetDesiredCapacity")
def set_desired_capacity(call: Call) -> dict[str, Any]:
    """Change a group's desired capacity."""
    with guard:
        group, wanted = (
            find(call, call.params["AutoScalingGroupName"]),
            call.params["DesiredCapacity"],
        )
        for word, bound, wrong in (
            ("above max", group.fields["MaxSize"], wanted > group.fields["MaxSize"]),
            ("below min", group.fields["MinSize"], wanted < group.fields["MinSize"]),
        ):
            if wrong:
                raise invalid(
                    f"New SetDesiredCapacity value {wanted} is {word} value {bound} for the "
                    "AutoScalingGroup."
                )
        old = group.desired
        group.fields = {**group.fields, "DesiredCapacity": wanted}
        what = "a user request explicitly set group desired capacity changing the desired capacity"
        converge(group, at_this_time(f"{what} from {old} to {wanted}."))
    return {}


@action("autoscaling", "DeleteAutoScalingGroup")
def delete_auto_scaling_group(call: Call) -> dict[str, Any]:
    """Delete a group; its instances end with it if that is forced."""
    with guard:
        group = find(call, call.params["AutoScalingGroupName"])
        if group.members and not call.params.get("ForceDelete"):
            raise Refusal(
                "ResourceInUse",
                "You cannot delete an AutoScalingGroup while there are instances still in the "
                "group.",
            )
        # Then nothing replaces its instances.
        del groups(call)[group.name]
        end(group, group.members)
    return {}


@action("autoscaling", "DescribeAutoScalingGroups")
def describe_auto_scaling_groups(call: Call) -> dict[str, Any]:
    """Describe groups by name, by tags, or all; unknown names are left out."""
    names, filters = call.params.get("AutoScalingGroupNames"), call.params.get("Filters", [])
    with guard:
        found = [
            group.described()
            for group in groups(call).values()
            if not names or group.name in names
            if all(_matches(group, it["Name"], it.get("Values", [])) for it in filters)
        ]
    return page(call, "AutoScalingGroups", found, usual=50, most=100)


def _matches(group: Group, name: str, values: list[str]) -> bool:
    tags = {key: tag["Value"] for key, tag in group.tags.items()}
    if name == "tag-key":
        return bool(tags.keys() & set(values))
    if name == "tag-value":
        return bool(set(tags.values()) & set(values))
    if name.startswith("tag:"):
        return tags.get(name.removeprefix("tag:")) in values
    raise invalid(f"Filter type {name} is not correct. Allowed: tag-key, tag-value, tag:<key>")


def _checked(call: Call, given: Row) -> Row:
    """Return what a request sets of a group.

    Raises:
        Refusal: the embedded AWS does not do something of it, or AWS would not.
    """
    for name, value in given.items():
        if name in _NEUTRAL and value != _NEUTRAL[name]:
            raise unsupported(f"{name} {value}")
        if value and name not in (*_DEFAULTS, *_OTHERS, *_NEUTRAL):
            raise unsupported(name)
    check_policies(given.get("TerminationPolicies", []))
    fields = dict(given)
    if template := given.get("LaunchTemplate"):
        named = [name for name in ("LaunchTemplateId", "LaunchTemplateName") if name in template]
        if len(named) != 1:
            raise invalid(
                "Valid requests must contain either launchTemplateId or LaunchTemplateName"
            )
        fields["LaunchTemplate"] = _with_both_names(call, template)
    if subnets := given.get("VPCZoneIdentifier"):
        try:
            found = [subnet_of(call, each.strip()) for each in subnets.split(",")]
        except Refusal as error:
            raise invalid(error.message) from error
    elif zones := given.get("AvailabilityZones"):
        defaults = call.backend("ec2").get_default_subnets()
        if missing := [zone for zone in zones if zone not in defaults]:
            raise invalid(f"No default subnet for availability zone: '{missing[0]}'.")
        found = [defaults[zone] for zone in zones]
    else:
        return fields
    in_zones = sorted({subnet.availability_zone for subnet in found})
    if given.get("AvailabilityZones") and in_zones != sorted(given["AvailabilityZones"]):
        raise invalid(
            "The availability zones of the specified subnets and the Auto Scaling group do not "
            "match"
        )
    return {
        **fields,
        "VPCZoneIdentifier": ",".join(subnet.id for subnet in found),
        "AvailabilityZones": in_zones,
    }


def _with_both_names(call: Call, template: Row) -> Row:
    """Return a launch template's specification with id and name, as Describe actions show it."""
    try:
        template_data(call, template)
    except Refusal as error:
        raise bad_template(error.message) from error
    ec2 = call.backend("ec2")
    template_id = template.get("LaunchTemplateId") or ec2.launch_template_name_to_ids.get(
        template.get("LaunchTemplateName")
    )
    name = ec2.launch_templates[template_id].name
    return {**template, "LaunchTemplateId": template_id, "LaunchTemplateName": name}


def _check(group: Group, call: Call) -> None:
    """Refuse what a group must not be.

    Raises:
        Refusal: as AWS does.
    """
    fields = group.fields
    if "LaunchTemplate" not in fields:
        raise invalid(
            "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, "
            "InstanceId or MixedInstancesPolicy parameter."
        )
    if not fields.get("VPCZoneIdentifier"):
        raise invalid("At least one Availability Zone or VPC Subnet is required.")
    low, high, desired = fields["MinSize"], fields["MaxSize"], fields["DesiredCapacity"]
    if low < 0:
        raise invalid(f"Min bound, {low}, must be greater than or equal to 0")
    if low > high:
        raise invalid(f"Max bound, {high}, must be greater than or equal to min bound, {low}")
    if not low <= desired <= high:
        raise invalid(
            f"Desired capacity:{desired} must be between the specified min size:{low} and max "
            f"size:{high}"
        )
    launches.check(call, fields, group.subnets)
