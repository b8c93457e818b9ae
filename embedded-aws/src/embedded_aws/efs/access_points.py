"""Access points: ways into a file system, each with a user and a root directory.

EFS API reference: a client token makes one access point; without a root directory it is that of
the file system.
"""

from dataclasses import dataclass
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, action, existing
from embedded_aws.efs.calls import already_exists, bad_request, own_id, page
from embedded_aws.efs.file_systems import find


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPoint:
    """An access point, stored in moto's own list, in which IAM finds the tags of resources.

    Attributes:
        access_point_id: `fsap-...`.
        access_point_arn: its ARN.
        row: what DescribeAccessPoints returns, without the tags.
    """

    access_point_id: str
    access_point_arn: str
    row: dict[str, Any]


def point_of(call: Call, named: str) -> AccessPoint:
    """Return the access point of an id or ARN.

    Raises:
        Refusal: there is none.
    """
    found: AccessPoint | None = call.backend("efs").access_points.get(own_id(named))
    message = f"Access Point {own_id(named)} does not exist."
    return existing(found, "AccessPointNotFound", message)


@action("efs", "CreateAccessPoint")
def create_access_point(call: Call) -> dict[str, Any]:
    """Create an access point; a client token makes only one."""
    params, token = call.params, call.params["ClientToken"]
    file_system_id = find(call, params["FileSystemId"]).file_system_id
    points = call.backend("efs").access_points
    for other in points.values():
        if other.row["ClientToken"] == token:
            raise already_exists(
                "AccessPoint",
                other.access_point_id,
                f"Access point '{other.access_point_id}' already exists with client token "
                f"'{token}'",
            )
    point_id = f"fsap-{mock_random.get_random_hex(17)}"
    created = AccessPoint(
        access_point_id=point_id,
        access_point_arn=call.arn("elasticfilesystem", f"access-point/{point_id}"),
        row={
            "ClientToken": token,
            "FileSystemId": file_system_id,
            **({"PosixUser": params["PosixUser"]} if "PosixUser" in params else {}),
            "RootDirectory": {"Path": "/", **params.get("RootDirectory", {})},
            "OwnerId": call.account,
        },
    )
    points[point_id] = created
    call.backend("efs").tagging_service.tag_resource(point_id, params.get("Tags", []))
    return {**_described(call, created), "LifeCycleState": "creating"}


@action("efs", "DescribeAccessPoints")
def describe_access_points(call: Call) -> dict[str, Any]:
    """Describe an access point, those of a file system, or all."""
    params = call.params
    if "AccessPointId" in params and "FileSystemId" in params:
        raise bad_request("AccessPointId and FileSystemId are mutually exclusive.")
    if "AccessPointId" in params:
        found = [point_of(call, params["AccessPointId"])]
    else:
        found = list(call.backend("efs").access_points.values())
    if "FileSystemId" in params:
        file_system_id = find(call, params["FileSystemId"]).file_system_id
        found = [each for each in found if each.row["FileSystemId"] == file_system_id]
    return page(call, "AccessPoints", [_described(call, each) for each in found])


def _described(call: Call, point: AccessPoint) -> dict[str, Any]:
    tags = call.backend("efs").list_tags_for_resource(point.access_point_id)
    name = next((tag["Value"] for tag in tags if tag["Key"] == "Name"), None)
    return {
        **point.row,
        "AccessPointId": point.access_point_id,
        "AccessPointArn": point.access_point_arn,
        "LifeCycleState": "available",
        "Tags": tags,
        **({} if name is None else {"Name": name}),
    }


@action("efs", "DeleteAccessPoint")
def delete_access_point(call: Call) -> dict[str, Any]:
    """Delete an access point; the data stay."""
    found = point_of(call, call.params["AccessPointId"])
    del call.backend("efs").access_points[found.access_point_id]
    return {}
