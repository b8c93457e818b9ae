"""Mount targets: where the instances of a zone reach a file system.

EFS API reference, CreateMountTarget: one in each zone, all in one VPC; that of a One Zone file
system is in its zone; it has a network interface with its description and security groups, by
default the VPC's, which are of the subnet's VPC. A mount target is `available` at once.
Documented: at most five security groups. The words of a second one in a zone:
github.com/hashicorp/terraform-provider-aws/issues/2525; others are moto's.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action, existing
from embedded_aws.ec2.subnets import subnet_of
from embedded_aws.efs.access_points import point_of
from embedded_aws.efs.calls import bad_request, page
from embedded_aws.efs.file_systems import FileSystem, find, mount_targets, targets_of

_MOST_GROUPS = 5


def _target(call: Call) -> Row:
    target_id = call.params["MountTargetId"]
    return existing(
        mount_targets(call).get(target_id),
        "MountTargetNotFound",
        f"Mount target '{target_id}' does not exist.",
    )


@action("efs", "CreateMountTarget")
def create_mount_target(call: Call) -> Row:
    """Create a mount target and its network interface."""
    file_system, params = find(call, call.params["FileSystemId"]), call.params
    if params.get("IpAddressType", "IPV4_ONLY") != "IPV4_ONLY" or "Ipv6Address" in params:
        raise bad_request("the embedded AWS makes mount targets with IPv4 addresses only.")
    try:
        subnet = subnet_of(call, params["SubnetId"])
    except Refusal as refusal:
        raise Refusal("SubnetNotFound", refusal.message) from refusal
    _check_place(file_system, targets_of(call, file_system), subnet)
    groups = params.get("SecurityGroups", [])
    _check_groups(call, groups, subnet.vpc_id)
    target_id = f"fsmt-{mock_random.get_random_hex(17)}"
    interface = call.backend("ec2").create_network_interface(
        subnet,
        _address(subnet, params.get("IpAddress")),
        group_ids=groups,
        description=f"Mount target {target_id} for file system {file_system.file_system_id}",
    )
    interface.requester_managed, interface.requester_id = True, "EFS"
    mount_targets(call)[target_id] = {
        "OwnerId": call.account,
        "MountTargetId": target_id,
        "FileSystemId": file_system.file_system_id,
        "SubnetId": subnet.id,
        "LifeCycleState": "available",
        "IpAddress": interface.private_ip_address,
        "NetworkInterfaceId": interface.id,
        "AvailabilityZoneId": subnet.availability_zone_id,
        "AvailabilityZoneName": subnet.availability_zone,
        "VpcId": subnet.vpc_id,
    }
    return {**mount_targets(call)[target_id], "LifeCycleState": "creating"}


def _check_place(file_system: FileSystem, others: Sequence[Row], subnet: Any) -> None:
    zone = file_system.row.get("AvailabilityZoneName")
    if zone not in (None, subnet.availability_zone):
        raise Refusal(
            "AvailabilityZonesMismatch",
            f"The file system is in Availability Zone {zone}, the subnet in "
            f"{subnet.availability_zone}.",
        )
    if any(other["VpcId"] != subnet.vpc_id for other in others):
        raise Refusal(
            "MountTargetConflict",
            "requested subnet for new mount target is not in the same VPC as existing mount "
            "targets",
        )
    if any(other["AvailabilityZoneId"] == subnet.availability_zone_id for other in others):
        raise Refusal("MountTargetConflict", "mount target already exists in this AZ")


def _check_groups(call: Call, group_ids: Sequence[str], vpc_id: str) -> None:
    if len(group_ids) > _MOST_GROUPS:
        raise Refusal(
            "SecurityGroupLimitExceeded",
            "The maximum number of security groups per interface has been reached.",
        )
    for group_id in group_ids:
        group = call.backend("ec2").get_security_group_from_id(group_id)
        if group is None or group.vpc_id != vpc_id:
            raise Refusal(
                "SecurityGroupNotFound", f"The SecurityGroup ID '{group_id}' does not exist"
            )


def _address(subnet: Any, wanted: str | None) -> str:
    """Return the address that a mount target takes in its subnet."""
    if wanted is None:
        if subnet.available_ip_address_count < 1:
            raise Refusal(
                "NoFreeAddressesInSubnet", f"Subnet {subnet.id} has no free IP addresses."
            )
        return str(subnet.get_available_subnet_ip(None))
    if ip_address(wanted) not in subnet.cidr:
        raise bad_request("Address does not fall within the subnet's address range")
    if wanted in subnet._subnet_ips:
        raise Refusal("IpAddressInUse", f"IP address {wanted} is in use in subnet {subnet.id}.")
    subnet.request_ip(wanted, None)
    return wanted


@action("efs", "DescribeMountTargets")
def describe_mount_targets(call: Call) -> dict[str, Any]:
    """Describe a mount target, or those of a file system or of an access point's file system."""
    names = ("FileSystemId", "MountTargetId", "AccessPointId")
    if len([name for name in names if name in call.params]) != 1:
        raise bad_request("Must specify exactly one mutually exclusive parameter.")
    if "MountTargetId" in call.params:
        return page(call, "MountTargets", [_target(call)])
    if "AccessPointId" in call.params:
        file_system = find(call, point_of(call, call.params["AccessPointId"]).row["FileSystemId"])
    else:
        file_system = find(call, call.params["FileSystemId"])
    return page(call, "MountTargets", targets_of(call, file_system))


@action("efs", "DescribeMountTargetSecurityGroups")
def describe_mount_target_security_groups(call: Call) -> dict[str, Any]:
    """Return the security groups of a mount target, which are those of its interface."""
    interface = call.backend("ec2").get_network_interface(_target(call)["NetworkInterfaceId"])
    return {"SecurityGroups": [group.id for group in interface.group_set]}


@action("efs", "ModifyMountTargetSecurityGroups")
def modify_mount_target_security_groups(call: Call) -> dict[str, Any]:
    """Give a mount target other security groups; none means the VPC's default group."""
    target, ec2 = _target(call), call.backend("ec2")
    groups = call.params.get("SecurityGroups", [])
    _check_groups(call, groups, target["VpcId"])
    ec2.get_network_interface(target["NetworkInterfaceId"])._group_set = [
        ec2.get_security_group_from_id(each) for each in groups
    ] or [ec2.get_default_security_group(target["VpcId"])]
    return {}


@action("efs", "DeleteMountTarget")
def delete_mount_target(call: Call) -> dict[str, Any]:
    """Delete a mount target and its network interface, at once."""
    target, ec2 = _target(call), call.backend("ec2")
    ec2.delete_network_interface(target["NetworkInterfaceId"])
    subnet_of(call, target["SubnetId"]).del_subnet_ip(target["IpAddress"])
    del mount_targets(call)[target["MountTargetId"]]
    return {}
