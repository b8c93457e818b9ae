"""Members of resource groups, which moto does not have, for groups of capacity reservations.

moto has one region, us-west-1, in the ARN of every group; here it is the group's own.

Resource Groups API reference: GroupResources takes groups of the types `AWS::EC2::HostManagement`,
`AWS::EC2::CapacityReservationPool` and `AWS::ResourceGroups::ApplicationGroup` alone, of which the
second is here; what it cannot add is in `Failed`, and the rest is added. Inferred: the words of
refusals, and the codes in `Failed`.
"""

from typing import Any

from moto.resourcegroups.models import FakeResourceGroup, ResourceGroupsBackend
from moto.resourcegroups.responses import ResourceGroupsResponse
from moto.resourcegroups.urls import url_paths

from embedded_aws.actions import Call, Refusal, action, correction, existing
from embedded_aws.ec2.tables import capacity_reservations

_POOL = "AWS::EC2::CapacityReservationPool"
_RESERVATION = "AWS::EC2::CapacityReservation"
_REGION_OF_MOTO = ":us-west-1:"


@correction
def route_members() -> None:
    """Add the paths of the operations that moto has no URL for."""
    for path in ("group-resources", "list-group-resources", "ungroup-resources"):
        url_paths[f"{{0}}/{path}$"] = ResourceGroupsResponse.dispatch


@correction
def name_the_region() -> None:
    """Put the region of a group into its ARN."""
    original = ResourceGroupsBackend.create_group

    def create_group(self: ResourceGroupsBackend, *args: Any, **fields: Any) -> FakeResourceGroup:
        group = original(self, *args, **fields)
        del self.groups.by_arn[group.arn]
        group.arn = group.arn.replace(_REGION_OF_MOTO, f":{self.region_name}:")
        self.groups.by_arn[group.arn] = group
        return group

    # mypy does not know that a method may be replaced; moto offers no other way.
    ResourceGroupsBackend.create_group = create_group  # type: ignore[method-assign]


def reservation_ids(call: Call, group_arn: str) -> list[str]:
    """Return the ids of the capacity reservations of a group that launches may target.

    Raises:
        Refusal: there is no such group, or it is no pool of reservations.
    """
    group = _group(call, group_arn)
    _require_pool(group)
    return [arn.rpartition("/")[2] for arn in _members(group)]


@action("resource-groups", "GetGroupConfiguration")
def get_group_configuration(call: Call) -> dict[str, Any]:
    """Say of which types a group is."""
    configuration = _group(call, call.params["Group"]).configuration or []
    return {"GroupConfiguration": {"Configuration": configuration, "Status": "UPDATE_COMPLETE"}}


@action("resource-groups", "GetGroup")
def get_group(call: Call) -> dict[str, Any]:
    """Describe a group by its ARN too, and not by its name alone."""
    group = _group(call, call.params.get("Group") or call.params.get("GroupName", ""))
    described = {"GroupArn": group.arn, "Name": group.name, "Description": group.description}
    return {"Group": described}


@action("resource-groups", "GroupResources")
def group_resources(call: Call) -> dict[str, Any]:
    """Add capacity reservations to a pool."""
    group = _group(call, call.params["Group"])
    _require_pool(group)
    members, known = _members(group), _reservation_arns(call)
    succeeded: list[str] = []
    failed: list[dict[str, str]] = []
    for arn in call.params["ResourceArns"]:
        if arn not in known:
            message = f"{arn} is no capacity reservation of this region."
            failed.append(
                {"ResourceArn": arn, "ErrorCode": "RESOURCE_NOT_FOUND", "ErrorMessage": message}
            )
            continue
        succeeded.append(arn)
        if arn not in members:
            members.append(arn)
    return {"Succeeded": succeeded, "Failed": failed, "Pending": []}


@action("resource-groups", "UngroupResources")
def ungroup_resources(call: Call) -> dict[str, Any]:
    """Remove capacity reservations from a pool."""
    group = _group(call, call.params["Group"])
    _require_pool(group)
    members, leaving = _members(group), call.params["ResourceArns"]
    members[:] = [arn for arn in members if arn not in leaving]
    return {"Succeeded": leaving, "Failed": [], "Pending": []}


@action("resource-groups", "ListGroupResources")
def list_group_resources(call: Call) -> dict[str, Any]:
    """List the members of a pool, on one page."""
    group = _group(call, call.params.get("Group") or call.params.get("GroupName", ""))
    if group.resource_query:
        raise NotImplementedError("the members of a group that is a query")
    identifiers = [{"ResourceArn": arn, "ResourceType": _RESERVATION} for arn in _members(group)]
    return {
        "Resources": [{"Identifier": each} for each in identifiers],
        "ResourceIdentifiers": identifiers,
        "QueryErrors": [],
    }


def _group(call: Call, named: str) -> FakeResourceGroup:
    groups = call.backend("resource-groups").groups
    found: FakeResourceGroup = existing(
        groups.by_arn.get(named) or groups.by_name.get(named),
        "NotFoundException",
        f"Cannot find the group {named}.",
    )
    return found


def _require_pool(group: FakeResourceGroup) -> None:
    types = [each["Type"] for each in group.configuration or ()]
    if _POOL not in types:
        raise Refusal("BadRequestException", f"The group {group.name} is not of type {_POOL}.")


def _members(group: FakeResourceGroup) -> list[str]:
    # An attribute of the group, so that it goes with it.
    members: list[str] = group.__dict__.setdefault("embedded_aws_members", [])
    return members


def _reservation_arns(call: Call) -> set[str]:
    return {each["CapacityReservationArn"] for each in capacity_reservations(call).values()}
