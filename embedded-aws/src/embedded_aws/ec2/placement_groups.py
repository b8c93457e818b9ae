"""EC2 placement groups, which moto does not have.

EC2 API reference and user guide "Placement groups": names are unique in the region (500 per
region); strategy cluster, partition (1 to 7 partitions) or spread; a group is deletable only while
no instance and no capacity reservation is in it; a cluster placement group spans one zone and takes
only types whose `PlacementGroupInfo.SupportedStrategies` has `cluster`. Inferred: the wording of
the refusals of a second zone and of an unsupported type.
"""

from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action
from embedded_aws.ec2 import tables
from embedded_aws.ec2.held_capacity import in_group
from embedded_aws.ec2.instance_types import require
from embedded_aws.ec2.refusals import invalid_combination, invalid_value
from embedded_aws.ec2.tags import put_tags, select, tags_of

_MAXIMUM = 500
_FILTERS = {
    "group-name": "GroupName",
    "group-id": "GroupId",
    "group-arn": "GroupArn",
    "state": "State",
    "strategy": "Strategy",
    "spread-level": "SpreadLevel",
}


def _running(call: Call, name: str) -> list[Any]:
    ec2 = call.backend("ec2")
    return [
        instance
        for instance in ec2.all_instances()
        if tables.placement_group_members(call).get(instance.id) == name
        and instance.state != "terminated"
    ]


def find(call: Call, name_or_id_or_arn: str) -> Row:
    """Return a placement group.

    Raises:
        Refusal: there is none.
    """
    for group in tables.placement_groups(call).values():
        if name_or_id_or_arn in (group["GroupName"], group["GroupId"], group["GroupArn"]):
            return group
    raise Refusal(
        "InvalidPlacementGroup.Unknown", f"The Placement Group '{name_or_id_or_arn}' is unknown."
    )


@action("ec2", "CreatePlacementGroup")
def create_placement_group(call: Call) -> dict[str, Any]:
    """Create a placement group; the strategy defaults to cluster."""
    groups = tables.placement_groups(call)
    group_id = f"pg-{mock_random.get_random_hex(17)}"
    name = call.params.get("GroupName", group_id)
    strategy = call.params.get("Strategy", "cluster")
    if any(group["GroupName"] == name for group in groups.values()):
        raise Refusal(
            "InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists."
        )
    partitions = call.params.get("PartitionCount")
    if partitions is not None and (strategy != "partition" or not 1 <= partitions <= 7):
        raise invalid_value(
            "The partition count must be between 1 and 7, and is for strategy partition only."
        )
    spread = call.params.get("SpreadLevel")
    if spread is not None and strategy != "spread":
        raise invalid_combination("SpreadLevel is valid for strategy spread only.")
    if len(groups) >= _MAXIMUM:
        raise Refusal(
            "PlacementGroupLimitExceeded",
            f"You have reached the limit of {_MAXIMUM} placement groups.",
        )
    call.dry_run()
    put_tags(call, "placement-group", group_id)
    groups[group_id] = {
        "GroupName": name,
        "GroupId": group_id,
        "GroupArn": call.arn("ec2", f"placement-group/{name}"),
        "State": "available",
        "Strategy": strategy,
    }
    if strategy == "partition":
        groups[group_id]["PartitionCount"] = partitions or 2
    if strategy == "spread":
        groups[group_id]["SpreadLevel"] = spread or "rack"
    return {"PlacementGroup": {**groups[group_id], "Tags": tags_of(call, group_id)}}


@action("ec2", "DescribePlacementGroups")
def describe_placement_groups(call: Call) -> dict[str, Any]:
    """Describe placement groups by name, id or filter."""
    named = [find(call, name) for name in call.params.get("GroupNames", [])]
    by_id = [find(call, group_id) for group_id in call.params.get("GroupIds", [])]
    groups = named + by_id or list(tables.placement_groups(call).values())
    tagged = [{**group, "Tags": tags_of(call, group["GroupId"])} for group in groups]
    return {"PlacementGroups": select(call, tagged, _FILTERS)}


@action("ec2", "DeletePlacementGroup")
def delete_placement_group(call: Call) -> dict[str, Any]:
    """Delete a placement group by name (or id), when no instance is in it."""
    group = find(call, call.params["GroupName"])
    if in_group(call, group["GroupArn"]) or _running(call, group["GroupName"]):
        raise Refusal(
            "InvalidPlacementGroup.InUse",
            f"The placement group {group['GroupName']} is in use and may not be deleted.",
        )
    call.dry_run()
    del tables.placement_groups(call)[group["GroupId"]]
    call.backend("ec2").tags.pop(group["GroupId"], None)
    return {}


def check_launch(call: Call, group: Row, instance_type: str, zone: str) -> None:
    """Refuse a launch that the placement group cannot take.

    Args:
        call: the launch.
        group: as `find` returns it.
        instance_type: for instance `trn1.32xlarge`.
        zone: the zone name of the launch's subnet.

    Raises:
        Refusal: the type does not support the strategy, or the cluster is in another zone.
    """
    strategies = require(instance_type)["PlacementGroupInfo"]["SupportedStrategies"]
    if group["Strategy"] not in strategies:
        raise invalid_combination(
            f"The instance type '{instance_type}' is not supported by the "
            f"'{group['Strategy']}' placement strategy."
        )
    others = {instance.placement.zone for instance in _running(call, group["GroupName"])}
    if group["Strategy"] == "cluster" and others - {zone}:
        raise invalid_combination(
            f"Placement group {group['GroupName']} is in Availability Zone "
            f"{', '.join(sorted(others))}; a cluster placement group cannot span {zone}."
        )


def join(call: Call, group: Row, instance_ids: list[str]) -> None:
    """Record that these instances were launched into the placement group."""
    name: str = group["GroupName"]
    tables.placement_group_members(call).update(dict.fromkeys(instance_ids, name))
