"""The zone of a cluster, its network and its subnets."""

from collections.abc import Iterator

from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.parts.monitoring import monitoring_charges
from trainshed.parts.nodes import nodes_part
from trainshed.parts.storage import storage_parts
from trainshed.plan import ClusterPlan, NetworkPlan
from trainshed.prices import ENDPOINT_HOUR, LOGS_INGESTED, LOGS_STORED, NAT_HOUR, PUBLIC_IPV4_HOUR


def zone_part(plan: ClusterPlan) -> PlannedPart:
    """Return the zone, with the network inside."""
    return PlannedPart(
        kind="zone",
        facts=(
            Fact(name="zone", value=plan.zone.name),
            Fact(name="region", value=plan.region, minor=True),
        ),
        charges=(
            Charge(component="logs that CloudWatch takes in", item=LOGS_INGESTED),
            Charge(component="logs that CloudWatch keeps", item=LOGS_STORED),
            *monitoring_charges(plan),
        ),
        parts=(_network(plan),),
    )


def _network(plan: ClusterPlan) -> PlannedPart:
    network = plan.network
    new = network.cidr is not None
    return PlannedPart(
        kind="network",
        facts=(
            Fact(
                name="VPC", value=f"new, {network.cidr}" if new else f"{network.vpc_id}, existing"
            ),
            Fact(name="name of the network", value=network.name, minor=True),
            Fact(
                name="endpoints",
                value=", ".join(("S3", *network.endpoint_services)) if new else "as they are",
                minor=not network.endpoint_services,
            ),
            Fact(
                name="default security group",
                value=network.default_security_group_id or "as it is",
                minor=True,
            ),
        ),
        charges=tuple(_charges(network)) if new else (),
        resources=PartResources(
            stack=network.stack_name, types=("AWS::EC2::VPC", "AWS::EC2::VPCEndpoint")
        ),
        parts=tuple(_subnets(plan)),
    )


def _charges(network: NetworkPlan) -> Iterator[Charge]:
    zones = len(network.subnets)
    for component, item in (
        ("NAT gateway", NAT_HOUR),
        ("public address of the NAT gateway", PUBLIC_IPV4_HOUR),
    ):
        yield Charge(component=component, item=item, least=zones, most=zones)
    if services := network.endpoint_services:
        # An endpoint is paid for in each zone.
        endpoints = zones * len(services)
        yield Charge(
            component=f"interface endpoints: {', '.join(services)}",
            item=ENDPOINT_HOUR,
            least=endpoints,
            most=endpoints,
        )


def _subnets(plan: ClusterPlan) -> Iterator[PlannedPart]:
    network, stack = plan.network, plan.network.stack_name
    here = f"/{plan.zone.name}/"
    private = f"{network.subnet_id}, existing"
    if network.cidr is not None:
        subnets = network.subnets[0]
        private = str(subnets.private_cidr)
        yield PlannedPart(
            kind="public",
            facts=(
                Fact(name="public subnet", value=str(subnets.public_cidr)),
                Fact(name="NAT gateway", value="1, with an Elastic IP"),
            ),
            resources=PartResources(
                stack=stack, types=("AWS::EC2::NatGateway", "AWS::EC2::EIP"), path=here
            ),
        )
    yield PlannedPart(
        kind="private",
        facts=(Fact(name="private subnet", value=private),),
        resources=PartResources(stack=stack, types=("AWS::EC2::Subnet",), path=f"{here}Private"),
        parts=(nodes_part(plan), *storage_parts(plan)),
    )
