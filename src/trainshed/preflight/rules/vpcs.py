"""Whether an existing VPC lets nodes reach AWS and each other, or a new one can be made."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.account.deployed_stacks import find_stack
from trainshed.account.quotas import find_quota
from trainshed.aws import accepting
from trainshed.catalogue import Quota, increase_command
from trainshed.catalogue.quotas import ELASTIC_IPS, NAT_GATEWAYS, VPCS
from trainshed.findings import Severity, Violation, rule
from trainshed.preflight.subject import Subject, accounts

_WHEN = "network.vpc names an existing VPC"
_ANYWHERE = "0.0.0.0/0"


_NEW = "the cluster's own network is not deployed yet"
_LIMITS = ("https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html",)
_NEW_ACTIONS = (
    "servicequotas:GetServiceQuota",
    "servicequotas:GetAWSDefaultServiceQuota",
    "cloudformation:DescribeStacks",
    "cloudformation:ListStackResources",
)


def _is_new(subject: Subject) -> bool:
    """Whether the deployment makes a network."""
    network = subject.plan.network
    return not (network.vpc_id or find_stack(subject.aws, network.stack_name))


@rule(
    "TS-ACC-021",
    over=accounts,
    title="The account may not have another VPC",
    when=_NEW,
    why="""
A new network takes a VPC. The default quota of 5 is used up soon in an account that others use, and
the deployment is rolled back.
""",
    actions=(*_NEW_ACTIONS, "ec2:DescribeVpcs"),
    sources=_LIMITS,
    answers=("TS-QUO-002",),
    severity=Severity.ERROR,
)
def vpc_quota(subject: Subject) -> Iterator[Violation]:
    """A new network takes one."""
    if _is_new(subject):
        used = sum(1 for _ in subject.aws.pages("ec2", "describe_vpcs", "Vpcs"))
        yield from _one_more(subject, VPCS, used)


@rule(
    "TS-ACC-028",
    over=accounts,
    title="The account may not have another Elastic IP",
    when=_NEW,
    why="""
The NAT gateway of a new network takes an Elastic IP. The default quota is 5, and those that nothing
uses count too.
""",
    actions=(*_NEW_ACTIONS, "ec2:DescribeAddresses"),
    sources=_LIMITS,
    answers=("TS-QUO-002",),
    severity=Severity.ERROR,
)
def address_quota(subject: Subject) -> Iterator[Violation]:
    """A new network takes one."""
    if _is_new(subject):
        used = len(subject.aws.call("ec2", "describe_addresses")["Addresses"])
        yield from _one_more(subject, ELASTIC_IPS, used)


@rule(
    "TS-ACC-029",
    over=accounts,
    title="The zone may not have another NAT gateway",
    when=_NEW,
    why="A new network takes a NAT gateway in each zone; the default quota is 5 in a zone.",
    actions=(*_NEW_ACTIONS, "ec2:DescribeNatGateways", "ec2:DescribeSubnets"),
    sources=_LIMITS,
    severity=Severity.ERROR,
)
def nat_quota(subject: Subject) -> Iterator[Violation]:
    """A new network takes one in the cluster's zone."""
    if _is_new(subject):
        yield from _one_more(subject, NAT_GATEWAYS, _nat_gateways(subject))


def _one_more(subject: Subject, quota: Quota, used: int) -> Iterator[Violation]:
    value = find_quota(subject.aws, quota).value
    if used + 1 > value:
        yield Violation(
            path=("network",),
            message=f"a new network takes one more, and {used} of the quota {quota.name!r} "
            f"({quota.code}), which is {value:g}, are used",
            remedy="use an existing network, or "
            + increase_command(quota, used + 1, subject.plan.region),
        )


def _nat_gateways(subject: Subject) -> int:
    """Count the NAT gateways of the cluster's zone."""
    alive = {"Name": "state", "Values": ["pending", "available"]}
    gateways = list(
        subject.aws.pages("ec2", "describe_nat_gateways", "NatGateways", Filters=[alive])
    )
    if not gateways:
        return 0
    zone = subject.plan.zone
    key = "AvailabilityZoneId" if zone.is_id else "AvailabilityZone"
    zones = {
        subnet["SubnetId"]: subnet[key]
        for subnet in subject.aws.pages("ec2", "describe_subnets", "Subnets")
    }
    return sum(zones.get(gateway.get("SubnetId", "")) == zone.name for gateway in gateways)


@rule(
    "TS-ACC-024",
    over=accounts,
    title="The VPC does not resolve AWS's names",
    when=_WHEN,
    why="""
Nodes find their file system and interface endpoints by names that only AWS's resolver knows: the
VPC needs `enableDnsSupport` and, for private names of endpoints, `enableDnsHostnames`.
""",
    actions=("ec2:DescribeVpcAttribute",),
    sources=("https://docs.aws.amazon.com/vpc/latest/userguide/vpc-dns.html",),
    answers=("TS-NET-003",),
    severity=Severity.ERROR,
)
def vpc_dns(subject: Subject) -> Iterator[Violation]:
    """Both attributes are on."""
    vpc = subject.plan.network.vpc_id
    if vpc is None:
        return
    for attribute, member in (
        ("enableDnsSupport", "EnableDnsSupport"),
        ("enableDnsHostnames", "EnableDnsHostnames"),
    ):
        with accepting("InvalidVpcID.NotFound"):
            answer = subject.aws.call(
                "ec2", "describe_vpc_attribute", VpcId=vpc, Attribute=attribute
            )
            if not answer[member]["Value"]:
                option = attribute.replace("enableDns", "--enable-dns-").lower()
                yield Violation(
                    path=("network", "vpc"),
                    message=f"{vpc} has {attribute} off",
                    remedy=f"aws ec2 modify-vpc-attribute --vpc-id {vpc} {option}",
                )


def _routes(subject: Subject) -> Mapping[str, Any]:
    """Return the route table of the subnet: its own, or the VPC's main one; {} without a VPC."""
    network = subject.plan.network
    of_vpc = {"Name": "vpc-id", "Values": [network.vpc_id]}
    tables = list(
        subject.aws.pages("ec2", "describe_route_tables", "RouteTables", Filters=[of_vpc])
    )
    found: Mapping[str, Any] = {}
    for table in tables:
        for association in table["Associations"]:
            if association.get("SubnetId") == network.subnet_id:
                return dict(table)
            if association.get("Main"):
                found = table
    return found


@rule(
    "TS-ACC-025",
    over=accounts,
    title="Nodes of the subnet cannot reach AWS",
    when=_WHEN,
    why="""
Nodes have no public address. Without a route through NAT, or endpoints for each service that they
call, those of AWS Batch do not join it, pull no image and send no log: jobs stay in STARTING. Those
of plain EC2 cannot tell that they have booted: the deployment is undone after 45 billed minutes.
""",
    actions=("ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints"),
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/create-compute-environment.html",
        "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html",
    ),
    answers=("TS-NET-003",),
    severity=Severity.ERROR,
)
def way_out(subject: Subject) -> Iterator[Violation]:
    """There is NAT, a route to another network, or an endpoint for each service."""
    network = subject.plan.network
    if network.vpc_id is None or not (table := _routes(subject)):
        return
    default = [
        route for route in table.get("Routes", ()) if route.get("DestinationCidrBlock") == _ANYWHERE
    ]
    works = [route for route in default if route.get("State") == "active"]
    if any(_leads_on(route) for route in table.get("Routes", ())):
        return
    missing = sorted({*subject.plan.services} - _endpoints(subject, table["RouteTableId"]))
    if missing:
        why = "has no route out"
        if default and not works:
            why = "has a route out that leads nowhere (blackhole)"
        elif works:
            why = "routes out by an internet gateway, which needs public addresses"
        yield Violation(
            path=("network", "subnet"),
            message=f"{network.subnet_id} {why}, and there are no endpoints for "
            f"{', '.join(missing)}",
            remedy=f"route {_ANYWHERE} to a NAT gateway, or create the endpoints",
        )


def _leads_on(route: Mapping[str, Any]) -> bool:
    """Whether a route leads to NAT, or to another network, where endpoints may be."""
    inside = ("local", "igw-", "vpce-")
    return (
        route.get("State") == "active"
        and "DestinationIpv6CidrBlock" not in route
        and not route.get("GatewayId", "").startswith(inside)
    )


def _endpoints(subject: Subject, table_id: str) -> set[str]:
    """Return the services with an endpoint that serves the subnet, by their short names."""
    plan = subject.plan
    of_vpc = {"Name": "vpc-id", "Values": [plan.network.vpc_id]}
    return {
        # Endpoints of resources and service networks have none.
        each.get("ServiceName", "").removeprefix(f"com.amazonaws.{plan.region}.")
        for each in subject.aws.pages(
            "ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=[of_vpc]
        )
        if each["State"].lower() == "available"
        and (
            table_id in each.get("RouteTableIds", ())
            if each["VpcEndpointType"] == "Gateway"
            else each.get("PrivateDnsEnabled", False)
        )
    }


@rule(
    "TS-ACC-026",
    over=accounts,
    title="Traffic to S3 goes through NAT",
    when=_WHEN,
    why="""
A gateway endpoint for S3 costs nothing. Without it every byte of data sets and checkpoints is paid
for at the NAT gateway, and shares its bandwidth.
""",
    actions=("ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints"),
    sources=("https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html",),
    severity=Severity.INFO,
)
def s3_gateway(subject: Subject) -> Iterator[Violation]:
    """A gateway endpoint for S3 is in the subnet's route table."""
    network = subject.plan.network
    if network.vpc_id is None or not (table := _routes(subject)):
        return
    table_id = table["RouteTableId"]
    if "s3" not in _endpoints(subject, table_id):
        yield Violation(
            path=("network", "vpc"),
            message=f"{network.vpc_id} has no endpoint for S3 in the route table of the subnet",
            remedy=f"aws ec2 create-vpc-endpoint --vpc-id {network.vpc_id} --service-name "
            f"com.amazonaws.{subject.plan.region}.s3 --route-table-ids {table_id}",
        )
