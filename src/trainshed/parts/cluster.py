"""The parts of a cluster, from its zone to what is beside it, and the arrows between them."""

from collections.abc import Iterator, Mapping

from trainshed.orchestrators import part
from trainshed.parts.model import ORDER, Arrow, Behind, Fact, PlannedPart, all_parts
from trainshed.parts.nodes import nodes_part
from trainshed.parts.storage import bucket_part, storage_part
from trainshed.plan import ClusterPlan


def planned_parts(plan: ClusterPlan) -> tuple[PlannedPart, ...]:
    """Return the parts of a cluster that are in no other part, in the order of pictures."""
    of_orchestrator = part(plan.orchestrator, "parts").planned_parts(plan)
    found = (*of_orchestrator, _zone(plan), *bucket_part(plan))
    return tuple(sorted(found, key=lambda each: ORDER.index(each.kind)))


def planned_facts(plan: ClusterPlan) -> Mapping[str, Fact]:
    """Return the facts of all parts of a cluster, by their names."""
    parts = all_parts(planned_parts(plan))
    return {fact.name: fact for each in parts for fact in each.facts}


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows between the parts of a cluster."""
    yield from part(plan.orchestrator, "parts").planned_links(plan)
    if plan.lustre:
        yield Arrow(start="nodes", end="storage", text="mount")
        if plan.lustre.new and plan.lustre.new.s3:
            yield Arrow(start="storage", end="bucket", text="linked")


def _zone(plan: ClusterPlan) -> PlannedPart:
    network, stack = plan.network, plan.network.stack_name
    new = network.cidr is not None
    here = f"/{plan.zone.name}/"
    subnets = network.subnets[0] if new else None
    inside = [
        PlannedPart(
            kind="private",
            facts=(
                Fact(
                    name="private subnet",
                    value=str(
                        subnets.private_cidr if subnets else f"{network.subnet_id}, existing"
                    ),
                ),
            ),
            behind=Behind(stack=stack, types=("AWS::EC2::Subnet",), path=f"{here}Private"),
            parts=(nodes_part(plan), *storage_part(plan)),
        )
    ]
    if subnets:
        public = PlannedPart(
            kind="public",
            facts=(
                Fact(name="public subnet", value=str(subnets.public_cidr)),
                Fact(name="NAT gateway", value="1, with an Elastic IP"),
            ),
            behind=Behind(stack=stack, types=("AWS::EC2::NatGateway", "AWS::EC2::EIP"), path=here),
        )
        inside.insert(0, public)
    vpc = PlannedPart(
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
        behind=Behind(stack=stack, types=("AWS::EC2::VPC", "AWS::EC2::VPCEndpoint")),
        parts=tuple(inside),
    )
    return PlannedPart(
        kind="zone",
        facts=(
            Fact(name="zone", value=plan.zone.name),
            Fact(name="region", value=plan.region, minor=True),
        ),
        parts=(vpc,),
    )
