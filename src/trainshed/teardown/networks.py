"""The network stacks of a cluster: which they are, who uses them, what holds them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack, find_stack, imported_from, importers
from trainshed.account.tags import CLUSTER_TAG, STACK_TAG
from trainshed.aws import Region
from trainshed.teardown.kept import Kept

# What every network stack with exports has, and no other stack.
NETWORK_GUARD = "Custom::NetworkGuard"


def networks_of(
    region: Region, planned: str, users: Iterable[DeployedStack]
) -> tuple[DeployedStack, ...]:
    """Return the network stacks that a cluster has.

    Args:
        region: where.
        planned: name of the one in its file.
        users: its compute and storage stacks, which are in another one when the file has changed.
    """
    names = {planned}.union(*(imported_from(region, user) for user in users))
    stacks = [stack for name in sorted(names) if (stack := find_stack(region, name))]
    return tuple(each for each in stacks if each.name == planned or each.ids(NETWORK_GUARD))


def unused_networks(region: Region, known: Collection[str]) -> tuple[DeployedStack, ...]:
    """Return our network stacks that have a VPC and that no stack imports from.

    Args:
        region: where.
        known: names of network stacks to leave out, because they will be used.
    """
    filters = [{"Name": "tag-key", "Values": [CLUSTER_TAG]}]
    vpcs = region.pages("ec2", "describe_vpcs", "Vpcs", Filters=filters)
    tags = [{tag["Key"]: tag["Value"] for tag in vpc["Tags"]} for vpc in vpcs]
    names = {each[STACK_TAG] for each in tags if STACK_TAG in each}
    stacks = [find_stack(region, name) for name in sorted(names - {*known})]
    return tuple(each for each in stacks if each and not any(importers(region, each).values()))


def file_systems_in(
    region: Region, network: DeployedStack, removed: Iterable[DeployedStack]
) -> Iterator[str]:
    """Yield the file systems in the VPC that a network stack made.

    Not those in its subnets alone: when a zone has left the stack, the subnet of what was kept in
    that zone stays in the VPC.

    Args:
        region: where.
        network: the stack.
        removed: stacks that go before it, with the mount targets that have their groups alone.
    """
    vpcs = network.ids("AWS::EC2::VPC")
    if not vpcs:
        return
    for each in region.pages("fsx", "describe_file_systems", "FileSystems"):
        if each["VpcId"] in vpcs:
            yield each["FileSystemId"]
    going = {group for each in removed for group in each.ids("AWS::EC2::SecurityGroup")}
    for each in region.pages("efs", "describe_file_systems", "FileSystems"):
        name = each["FileSystemId"]
        targets = region.call("efs", "describe_mount_targets", FileSystemId=name)["MountTargets"]
        here = (target for target in targets if target["VpcId"] in vpcs)
        if any(not going.issuperset(_groups(region, target)) for target in here):
            yield name


def _groups(region: Region, target: Mapping[str, Any]) -> list[str]:
    answer = region.call(
        "efs", "describe_mount_target_security_groups", MountTargetId=target["MountTargetId"]
    )
    groups: list[str] = answer["SecurityGroups"]
    return groups


def left_groups(region: Region, network: DeployedStack) -> Iterator[str]:
    """Name the groups that were kept for file systems in a VPC which is to go."""
    for vpc in network.ids("AWS::EC2::VPC"):
        filters = [
            {"Name": "vpc-id", "Values": [vpc]},
            {"Name": "tag-key", "Values": ["trainshed:lustre", "trainshed:openzfs"]},
        ]
        for each in region.pages(
            "ec2", "describe_security_groups", "SecurityGroups", Filters=filters
        ):
            yield each["GroupId"]


def left_subnets(region: Region, network: DeployedStack) -> Iterator[str]:
    """Name the subnets that a stack could not delete with their zones, in a VPC which is to go.

    CloudFormation goes on without what it cannot delete at the end of an update, here the subnet of
    a file system.
    """
    filters = [{"Name": f"tag:{STACK_TAG}", "Values": [network.name]}]
    known = {*network.ids("AWS::EC2::Subnet")}
    for vpc in network.ids("AWS::EC2::VPC"):
        here = [*filters, {"Name": "vpc-id", "Values": [vpc]}]
        for each in region.pages("ec2", "describe_subnets", "Subnets", Filters=here):
            if each["SubnetId"] not in known:
                yield each["SubnetId"]


def kept_network(network: DeployedStack, reason: str) -> Kept:
    """Name a network stack that stays."""
    gateways = len(network.ids("AWS::EC2::NatGateway"))
    endpoints = len(network.ids("AWS::EC2::VPCEndpoint")) - 1  # that of S3 is free
    billed = [
        f"{count} {what}"
        for count, what in ((gateways, "NAT gateway(s)"), (endpoints, "interface endpoint(s)"))
        if count > 0
    ]
    return Kept(
        what="stack",
        name=network.name,
        size=" and ".join(billed),
        cost="bills by the hour" if billed else "nothing by itself",
        why=reason,
    )
