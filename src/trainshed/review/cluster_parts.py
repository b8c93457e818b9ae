"""The parts of a cluster, from its zone to what is beside it, and the arrows between them."""

from collections.abc import Iterator

from trainshed.plan import BatchPlan, ClusterPlan
from trainshed.review.job_parts import job_parts
from trainshed.review.model import Arrow
from trainshed.review.node_parts import nodes_part
from trainshed.review.parts import Behind, Fact, PlannedPart
from trainshed.review.storage_parts import bucket_part, storage_part


def planned_parts(plan: ClusterPlan) -> tuple[PlannedPart, ...]:
    """Return the parts of a cluster that are in no other part."""
    return (*job_parts(plan), _zone(plan), *bucket_part(plan), *_repository(plan))


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows between the parts of a cluster."""
    if isinstance(plan.orchestrator, BatchPlan):
        yield Arrow(start="job", end="queue", text="runs in")
        yield Arrow(start="queue", end="environment", text="takes nodes of")
        yield Arrow(start="environment", end="nodes", text="launches")
        images = "repository" if plan.repository else "registry"
        yield Arrow(start="nodes", end=images, text="pull the image")
    else:
        yield Arrow(start="document", end="nodes", text="runs jobs on")
        yield Arrow(start="group", end="nodes", text="launches")
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


def _repository(plan: ClusterPlan) -> Iterator[PlannedPart]:
    if own := plan.repository:
        yield PlannedPart(
            kind="repository",
            facts=(
                Fact(
                    name="ECR repository", value=own.name + (", existing" if own.existing else "")
                ),
            ),
            behind=Behind(stack=own.stack_name, types=("AWS::ECR::Repository",)),
        )
    elif isinstance(plan.orchestrator, BatchPlan):
        yield PlannedPart(kind="registry", facts=(Fact(name="repository of somebody else"),))
