"""Where instances are in the network, which moto does not have.

EC2 API reference, DescribeInstanceTopology: at most 100 named instances or groups, and MaxResults
not with instances, otherwise 20 in a page; network nodes from the top down, none for another type
or an instance that does not run. User guide, "Prerequisites for Amazon EC2 topology": the types.
AWS CLI reference, its example: without names, the instances of these types. Inferred: instances of
one cluster placement group are under the same network nodes; others share the top one of their zone
alone. Inferred: the words of the refusals.
"""

import hashlib
from fnmatch import fnmatchcase
from typing import Any

from embedded_aws.actions import Call, Row, action
from embedded_aws.ec2 import tables
from embedded_aws.ec2.refusals import invalid_combination, invalid_value
from embedded_aws.ec2.tags import select
from embedded_aws.ec2.zones import zone_of

_LARGEST_CALL = 100
_PAGE = 20
# How many layers, by type.
_LAYERS = {
    **dict.fromkeys(("g6e.*", "g7e.*", "hpc6*", "hpc7*", "hpc8a.96xlarge"), 3),
    **dict.fromkeys(("p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge"), 3),
    **dict.fromkeys(("p5e.48xlarge", "p5en.48xlarge", "p6e-gb200.36xlarge"), 3),
    **dict.fromkeys(("trn1.*", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"), 3),
    **dict.fromkeys(("p6-b200.48xlarge", "p6-b300.48xlarge"), 4),
}
_FILTERS = {
    "availability-zone": "AvailabilityZone",
    "instance-type": "InstanceType",
    "zone-id": "ZoneId",
}


@action("ec2", "DescribeInstanceTopology")
def describe_instance_topology(call: Call) -> dict[str, Any]:
    """Describe named instances, those of placement groups, or all of a type that has a topology."""
    names, groups = call.params.get("InstanceIds", []), call.params.get("GroupNames", [])
    for what, given in (("instance IDs", names), ("placement group names", groups)):
        if len(given) > _LARGEST_CALL:
            raise invalid_value(f"At most {_LARGEST_CALL} {what} can be specified.")
    if names and "MaxResults" in call.params:
        raise invalid_combination(
            "The parameter instancesSet cannot be used with the parameter maxResults"
        )
    ec2 = call.backend("ec2")
    found = [ec2.get_instance(name) for name in names] or [
        instance for instance in ec2.all_instances() if _layers(instance.instance_type)
    ]
    call.dry_run()
    rows = [_row(call, instance) for instance in found]
    rows = [row for row in rows if not groups or row.get("GroupName") in groups]
    selected = select(call, rows, _FILTERS)
    return {"Instances": selected} if names else _page(call, selected)


def _page(call: Call, rows: list[Row]) -> dict[str, Any]:
    """Return the page of rows that the call asks for; the token of the next is where it begins."""
    token = call.params.get("NextToken", "0")
    if not token.isdecimal():
        raise invalid_value(f"Value ({token}) for parameter nextToken is invalid.")
    start = int(token)
    end = start + call.params.get("MaxResults", _PAGE)
    more = {"NextToken": str(end)} if end < len(rows) else {}
    return {"Instances": rows[start:end], **more}


def _row(call: Call, instance: Any) -> Row:
    zone = instance.placement.zone
    row = {
        "InstanceId": instance.id,
        "InstanceType": instance.instance_type,
        "AvailabilityZone": zone,
    }
    if found := zone_of(call.region, zone):
        row["ZoneId"] = found[1]
    place = instance.id
    if group := tables.placement_group_members(call).get(instance.id):
        row["GroupName"] = group
        if group in _clusters(call):
            place = group
    if instance.state == "running" and (layers := _layers(instance.instance_type)):
        below = [_network_node(call, zone, place, str(layer)) for layer in range(1, layers)]
        row["NetworkNodes"] = [_network_node(call, zone), *below]
    return row


def _clusters(call: Call) -> set[str]:
    groups = tables.placement_groups(call).values()
    return {group["GroupName"] for group in groups if group["Strategy"] == "cluster"}


def _layers(instance_type: str) -> int:
    return next(
        (layers for types, layers in _LAYERS.items() if fnmatchcase(instance_type, types)), 0
    )


def _network_node(call: Call, *place: str) -> str:
    """Name a network node as EC2 does: by the account, too."""
    digest = hashlib.sha256("/".join((call.account, *place)).encode()).hexdigest()
    return f"nn-{digest[:17]}"
