"""The network of a cluster: what EKS refuses, and what it makes in the VPC.

EKS user guide, "View Amazon EKS networking requirements for VPC and subnets": subnets in two zones
at least, six free addresses in each; EKS makes two to four network interfaces, described as
`Amazon EKS CLUSTER`. "View Amazon EKS security group requirements": the cluster security group, its
name, tags and rules, and that EKS deletes it with the cluster. API reference, CreateCluster: which
ranges a service CIDR may have. "Review release notes for Kubernetes versions": from 1.33 on, the
group lets EFA's traffic out to itself. From memory: the words of subnets' refusals. Inferred: one
interface in each of the first two zones' subnets; a VPC with addresses of 10.0.0.0/8 gets the other
service CIDR.
"""

from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.subnets import check_groups, subnet_of
from embedded_aws.eks.calls import invalid

_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_USUAL, _OTHER = "10.100.0.0/16", "172.20.0.0/16"
_EFA_SINCE = (1, 33)
_INTERFACES = 2
_FREE_ADDRESSES = 6


def check_network(call: Call, subnet_ids: Sequence[str], group_ids: Sequence[str]) -> list[Any]:
    """Return moto's subnets of a cluster.

    Args:
        call: in whose account and region.
        subnet_ids: as given.
        group_ids: of the additional security groups.

    Raises:
        Refusal: InvalidParameterException.
    """
    try:
        subnets = [subnet_of(call, each) for each in subnet_ids]
        for subnet in subnets[:1]:
            check_groups(call, group_ids, subnet)
    except Refusal as error:
        raise invalid(error.message) from error
    if len({subnet.vpc_id for subnet in subnets}) > 1:
        raise invalid("Subnets must be from the same VPC")
    if len({subnet.availability_zone for subnet in subnets}) < _INTERFACES:
        raise invalid("Subnets specified must be in at least two different AZs")
    for subnet in subnets:
        free = int(subnet.available_ip_address_count)
        if free < _FREE_ADDRESSES:
            raise invalid(
                f"Subnet {subnet.id} has {free} free addresses; a cluster needs {_FREE_ADDRESSES} "
                "in each of its subnets."
            )
    return subnets


def check_public_ranges(asked: Sequence[str]) -> None:
    """Refuse ranges of addresses that nobody on the internet has.

    The words: errors in public issues, for private ranges and for those of documents. That others
    which are reserved, and what is no range, get the same: inferred.
    """
    refused = [each for each in asked if not _is_public(each)]
    if refused:
        raise invalid(
            f"The following CIDRs are not allowed in publicAccessCidrs: [{', '.join(refused)}]"
        )


def _is_public(asked: str) -> bool:
    try:
        return not IPv4Network(asked).is_private
    except ValueError:
        return False


def service_range(call: Call, asked: str | None, vpc_id: str) -> str:
    """Return the service CIDR of a cluster.

    Args:
        call: in whose account and region.
        asked: as given, or None.
        vpc_id: its VPC.

    Raises:
        Refusal: the CIDR is none that EKS takes.
    """
    vpc = call.backend("ec2").vpcs[vpc_id]
    taken = [IPv4Network(cidr["cidr_block"]) for cidr in vpc.get_cidr_block_association_set()]
    if asked is None:
        return _OTHER if any(each.overlaps(_PRIVATE[0]) for each in taken) else _USUAL
    try:
        cidr = IPv4Network(asked)
    except ValueError as error:
        raise invalid(f"The specified service ipv4 CIDR {asked} is invalid: {error}") from error
    if not any(map(cidr.subnet_of, _PRIVATE)):
        raise invalid(
            f"The specified service ipv4 CIDR {asked} is not within 10.0.0.0/8, 172.16.0.0/12 or "
            "192.168.0.0/16."
        )
    if not 12 <= cidr.prefixlen <= 24:
        raise invalid(f"The specified service ipv4 CIDR {asked} is not between /24 and /12.")
    if overlapping := next(filter(cidr.overlaps, taken), None):
        raise invalid(
            f"The specified service ipv4 CIDR {asked} overlaps with {overlapping} of VPC {vpc_id}."
        )
    return asked


def make_security_group(call: Call, cluster: str, number: tuple[int, ...], vpc_id: str) -> str:
    """Make the cluster security group and return its id.

    Args:
        call: in whose account and region.
        cluster: its name.
        number: of its version.
        vpc_id: its VPC.
    """
    name = (
        f"eks-cluster-sg-{cluster}-{mock_random.get_random_string(length=9, include_digits=True)}"
    )
    group = call.backend("ec2").create_security_group(
        name,
        "EKS created security group applied to ENI that is attached to EKS Control Plane master "
        "nodes, as well as any managed workloads.",
        vpc_id,
        tags={
            "Name": name,
            "aws:eks:cluster-name": cluster,
            f"kubernetes.io/cluster/{cluster}": "owned",
        },
    )
    group_id = str(group.id)
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}]
    ec2 = client("ec2", account=call.account, region=call.region)
    ec2.authorize_security_group_ingress(GroupId=group_id, IpPermissions=own)
    if number >= _EFA_SINCE:
        ec2.authorize_security_group_egress(GroupId=group_id, IpPermissions=own)
    return group_id


def make_interfaces(call: Call, cluster: str, vpc: Row) -> None:
    """Make the control plane's interfaces in a cluster's subnets, instead of those that it has.

    Args:
        call: in whose account and region.
        cluster: its name.
        vpc: its resourcesVpcConfig.
    """
    remove_interfaces(call, cluster)
    by_zone: dict[str, Any] = {}
    for subnet in (subnet_of(call, each) for each in vpc["subnetIds"]):
        by_zone.setdefault(subnet.availability_zone, subnet)
    groups = [vpc["clusterSecurityGroupId"], *vpc["securityGroupIds"]]
    for subnet in list(by_zone.values())[:_INTERFACES]:
        interface = call.backend("ec2").create_network_interface(
            subnet,
            subnet.get_available_subnet_ip(None),
            group_ids=groups,
            description=_description(cluster),
        )
        interface.requester_managed = True


def remove_interfaces(call: Call, cluster: str) -> None:
    """Delete the control plane's interfaces."""
    ec2 = call.backend("ec2")
    for interface in list(ec2.enis.values()):
        if interface.description == _description(cluster):
            ec2.delete_network_interface(interface.id)


def remove_security_group(call: Call, group_id: str) -> None:
    """Delete the cluster security group, unless something still uses it.

    EKS user guide, "Delete a cluster": what was not deleted before stays.
    """
    ec2 = client("ec2", account=call.account, region=call.region)
    try:
        ec2.delete_security_group(GroupId=group_id)
    except ec2.exceptions.ClientError as error:
        if error.response["Error"]["Code"] not in ("DependencyViolation", "InvalidGroup.NotFound"):
            raise


def _description(cluster: str) -> str:
    return f"Amazon EKS {cluster}"
