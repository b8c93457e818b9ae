"""Tags of Auto Scaling groups, which their new instances may get, too."""

from collections.abc import Iterable
from typing import Any

from embedded_aws.actions import Call, Row, action
from embedded_aws.autoscaling.group import Group, find, groups, guard
from embedded_aws.autoscaling.pages import page
from embedded_aws.autoscaling.refusals import invalid

_KIND = "auto-scaling-group"


def put(group: Group, tags: Iterable[Row]) -> None:
    """Put tags on a group, in place of those with the same keys."""
    for tag in tags:
        group.tags[tag["Key"]] = {
            "ResourceId": group.name,
            "ResourceType": _KIND,
            "Key": tag["Key"],
            "Value": tag.get("Value", ""),
            "PropagateAtLaunch": tag.get("PropagateAtLaunch", False),
        }


@action("autoscaling", "CreateOrUpdateTags")
def create_or_update_tags(call: Call) -> dict[str, Any]:
    """Put tags on groups; instances that run do not get them."""
    with guard:
        named = [(find(call, tag.get("ResourceId", "")), tag) for tag in call.params["Tags"]]
        for group, tag in named:
            put(group, [tag])
    return {}


@action("autoscaling", "DeleteTags")
def delete_tags(call: Call) -> dict[str, Any]:
    """Take tags off groups."""
    with guard:
        named = [(find(call, tag.get("ResourceId", "")), tag) for tag in call.params["Tags"]]
        for group, tag in named:
            group.tags.pop(tag["Key"], None)
    return {}


@action("autoscaling", "DescribeTags")
def describe_tags(call: Call) -> dict[str, Any]:
    """Describe the tags of groups."""
    fields = {
        "auto-scaling-group": "ResourceId",
        "key": "Key",
        "value": "Value",
        "propagate-at-launch": "PropagateAtLaunch",
    }
    with guard:
        found = [tag for group in groups(call).values() for tag in group.tags.values()]
    for wanted in call.params.get("Filters", []):
        if wanted["Name"] not in fields:
            raise invalid(f"Filter type {wanted['Name']} is not correct.")
        field = fields[wanted["Name"]]
        values = [value.lower() for value in wanted.get("Values", [])]
        found = [tag for tag in found if str(tag[field]).lower() in values]
    return page(call, "Tags", found, usual=50, most=100)
