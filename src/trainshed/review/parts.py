"""The parts of one cluster, for people: what each is, and which resources are behind it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.interfaces import efa_bandwidth
from trainshed.plan import BatchPlan, ClusterPlan, LustrePlan
from trainshed.review.model import Arrow
from trainshed.spec import DeploymentType, JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact about a part.

    Attributes:
        name: unique in the cluster, for instance `placement group`.
        value: for people; empty where the name says all.
        minor: it is told only where both sides have it, and it differs.
    """

    name: str
    value: str = ""
    minor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The resources behind a part.

    Attributes:
        stack: name of the stack that they are in.
        types: of the resources; where the first type goes, the part goes.
        path: in the names of those that count; empty for all.
    """

    stack: str
    types: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart:
    """A part of a cluster as its plan has it.

    Attributes:
        kind: unique in the cluster; one of `ORDER`.
        facts: the first one names it.
        behind: the resources; None where it has none of its own.
        parts: what is inside.
    """

    kind: str
    facts: tuple[Fact, ...]
    behind: Behind | None = None
    parts: tuple["PlannedPart", ...] = ()


# Of the parts that are side by side: what comes before an arrow comes first.
ORDER = (
    *("job", "queue", "environment", "document", "group"),
    *("zone", "network", "public", "private", "nodes", "cards", "accelerators"),
    *("storage", "bucket", "repository", "registry"),
)


def planned_parts(plan: ClusterPlan) -> tuple[PlannedPart, ...]:
    """Return the parts of a cluster that are in no other part."""
    return (*_orchestration(plan), _zone(plan), *_bucket(plan), *_repository(plan))


def all_facts(parts: tuple[PlannedPart, ...]) -> Iterator[Fact]:
    """Yield the facts of parts, and of what is inside them."""
    for part in parts:
        yield from part.facts
        yield from all_facts(part.parts)


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
        over = "EFA" if plan.lustre.spec.efa else "TCP"
        yield Arrow(
            start="nodes", end="storage", text=f"mount {plan.lustre.spec.mount} over {over}"
        )
        if plan.lustre.spec.s3:
            yield Arrow(start="storage", end="bucket", text="linked")


def _orchestration(plan: ClusterPlan) -> Iterator[PlannedPart]:
    stack = plan.spec.name
    if not isinstance(plan.orchestrator, BatchPlan):
        limit = f"{plan.orchestrator.timeout_hours} hours"
        yield PlannedPart(
            kind="document",
            facts=(Fact(name="job document"), *_job_facts(plan.spec.job, limit)),
            behind=Behind(stack=stack, types=("AWS::SSM::Document",)),
        )
        yield PlannedPart(
            kind="group",
            facts=(Fact(name="Auto Scaling group"),),
            behind=Behind(stack=stack, types=("AWS::AutoScaling::AutoScalingGroup",)),
        )
        return
    batch, job = plan.orchestrator, plan.spec.job
    yield PlannedPart(
        kind="job",
        facts=(
            Fact(name="job definition"),
            Fact(name="container image", value=_image(batch)),
            *_job_facts(job, f"{job.timeout_hours} hours"),
            Fact(name="attempts of a job", value=str(job.attempts), minor=True),
            Fact(
                name="shared memory of a job",
                value=f"{batch.container.shared_memory_mib} MiB",
                minor=True,
            ),
        ),
        behind=Behind(stack=stack, types=("AWS::Batch::JobDefinition",)),
    )
    yield PlannedPart(
        kind="queue",
        facts=(Fact(name="job queue"),),
        behind=Behind(stack=stack, types=("AWS::Batch::JobQueue",)),
    )
    yield PlannedPart(
        kind="environment",
        facts=(
            Fact(name="compute environment"),
            Fact(
                name="update time-out",
                value=f"{batch.update_timeout_minutes} minutes",
                minor=True,
            ),
        ),
        behind=Behind(stack=stack, types=("AWS::Batch::ComputeEnvironment",)),
    )


def _job_facts(job: JobSpec, limit: str) -> Iterator[Fact]:
    yield Fact(name="time limit of a job", value=limit, minor=True)
    # Names only: a value may be one that should not be in a report.
    yield Fact(name="variables of a job", value=", ".join(sorted(job.environment)), minor=True)
    grants = (f"{each.access} s3://{each.bucket}/{each.prefix}" for each in job.buckets)
    yield Fact(name="buckets of a job", value=", ".join(grants), minor=True)
    yield Fact(name="policies of a job", value=", ".join(job.policies), minor=True)


def _image(batch: BatchPlan) -> str:
    image = batch.image
    if not batch.repository:
        return str(image.uri)
    return f"{batch.repository.name}{'@' if image.digest else ':'}{image.tag_or_digest}"


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
            parts=(_nodes(plan), *([_storage(plan, plan.lustre)] if plan.lustre else [])),
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


def _nodes(plan: ClusterPlan) -> PlannedPart:
    instance, capacity, stack = plan.instance, plan.capacity, plan.spec.name
    most, least = plan.spec.instance.nodes.max, plan.idle_nodes
    group = "cluster" if capacity.own_placement_group else capacity.placement_group_name
    version = f":{plan.ami.version}" if plan.ami.version else ""
    kinds = Counter(row.kind for row in plan.interfaces)
    bandwidth = efa_bandwidth(instance, plan.interfaces)
    cards = PlannedPart(
        kind="cards",
        facts=(
            Fact(name="network cards", value=str(len(instance.network_cards))),
            Fact(name="interfaces", value=" + ".join(f"{n} x {kind}" for kind, n in kinds.items())),
            Fact(name="interface layout", value=plan.profile.value),
            Fact(
                name="EFA",
                value=f"{bandwidth.used_gbps:g} of {bandwidth.available_gbps:g} Gbps"
                if bandwidth
                else "none",
            ),
        ),
        behind=Behind(stack=stack),
    )
    accelerators = PlannedPart(
        kind="accelerators",
        facts=(Fact(name="accelerators", value=str(instance.accelerator)),),
        behind=Behind(stack=stack),
    )
    return PlannedPart(
        kind="nodes",
        facts=(
            Fact(name="nodes", value=str(most) if least == most else f"{least} to {most}"),
            Fact(name="instance type", value=instance.name),
            Fact(name="capacity", value=" ".join(filter(None, (capacity.kind, capacity.target)))),
            Fact(name="placement group", value=group or "none"),
            Fact(name="AMI", value=f"{plan.ami.asked}{version}"),
            Fact(name="root volume", value=f"{plan.spec.instance.root_gib} GiB", minor=True),
        ),
        behind=Behind(
            stack=stack,
            types=(
                "AWS::EC2::LaunchTemplate",
                "AWS::EC2::PlacementGroup",
                "AWS::AutoScaling::AutoScalingGroup",
            ),
        ),
        parts=(cards, accelerators),
    )


def _storage(plan: ClusterPlan, lustre: LustrePlan) -> PlannedPart:
    return PlannedPart(
        kind="storage",
        facts=tuple(_storage_facts(lustre)),
        behind=Behind(stack=lustre.stack_name, types=("AWS::FSx::FileSystem",)),
    )


def _storage_facts(lustre: LustrePlan) -> Iterator[Fact]:
    spec = lustre.spec
    if spec.existing:
        yield Fact(name="file system", value=f"{spec.existing}, existing")
    else:
        yield Fact(name="file system", value=f"Lustre {spec.deployment}")
        yield Fact(name="storage", value=f"{spec.capacity_gib} GiB")
        if spec.deployment is DeploymentType.PERSISTENT_2:
            yield Fact(name="storage throughput", value=f"{spec.throughput} MB/s per TiB")
            iops = f"{spec.metadata_iops} IOPS" if spec.metadata_iops else "automatic"
            yield Fact(name="storage metadata", value=iops, minor=True)
        yield Fact(name="storage compression", value=spec.compression, minor=True)
    yield Fact(name="storage network", value="EFA" if spec.efa else "TCP", minor=True)
    yield Fact(name="storage mount", value=spec.mount, minor=True)
    yield Fact(name="name of the storage", value=lustre.name, minor=True)


def _bucket(plan: ClusterPlan) -> Iterator[PlannedPart]:
    if plan.lustre and (link := plan.lustre.spec.s3):
        yield PlannedPart(
            kind="bucket",
            facts=(Fact(name="linked bucket", value=f"s3://{link.bucket}/{link.prefix}"),),
            behind=Behind(
                stack=plan.lustre.stack_name, types=("AWS::FSx::DataRepositoryAssociation",)
            ),
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
