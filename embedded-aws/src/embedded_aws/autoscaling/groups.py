"""Auto Scaling groups: created, changed, deleted, described.

API reference, also: a new minimum or maximum moves the desired capacity with it if the request
names none; a group with instances is deleted only by force, which ends them. The words of refusals:
as many projects' logs show them, of names that exist or do not, and of desired capacities.
Inferred: of instances left in the group. moto's groups launch without EC2's checks, and have no
activities.
"""

from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action
from embedded_aws.autoscaling.activities import at_this_time
from embedded_aws.autoscaling.convergence import converge, end
from embedded_aws.autoscaling.group import Group, find, groups, guard
from embedded_aws.autoscaling.group_settings import DEFAULTS, check_group, settings_of
from embedded_aws.autoscaling.mixed_instances import POLICY
from embedded_aws.autoscaling.pages import page
from embedded_aws.autoscaling.refusals import invalid
from embedded_aws.autoscaling.tags import put


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
        fields: Row = {
            **new_fields(call, name),
            "DesiredCapacity": given["MinSize"],
            **settings_of(call, given),
        }
        group = Group(call=call, fields=fields)
        check_group(call, group.fields)
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


def new_fields(call: Call, name: str) -> Row:
    """Return what DescribeAutoScalingGroups shows of a new group without settings."""
    arn = f"autoScalingGroup:{mock_random.uuid4()}:autoScalingGroupName/{name}"
    role = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
    return {
        "AutoScalingGroupName": name,
        "AutoScalingGroupARN": call.arn("autoscaling", arn),
        "LoadBalancerNames": [],
        "TargetGroupARNs": [],
        "EnabledMetrics": [],
        "CreatedTime": datetime.now(UTC),
        "ServiceLinkedRoleARN": f"arn:aws:iam::{call.account}:{role}",
        **DEFAULTS,
    }


@action("autoscaling", "UpdateAutoScalingGroup")
def update_auto_scaling_group(call: Call) -> dict[str, Any]:
    """Change a group; instances that it has remain as they are."""
    given = dict(call.params)
    with guard:
        group = find(call, given.pop("AutoScalingGroupName"))
        before, old = group.fields, group.desired
        settings = settings_of(call, given)
        # A group has one of them.
        templates = {"LaunchTemplate", POLICY}
        gone = templates - set(settings) if templates & set(settings) else set()
        kept = {name: value for name, value in before.items() if name not in gone}
        group.fields = {**kept, **settings}
        if "DesiredCapacity" not in given:
            low, high = group.fields["MinSize"], group.fields["MaxSize"]
            group.fields["DesiredCapacity"] = max(low, min(old, high))
        try:
            check_group(call, group.fields)
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
