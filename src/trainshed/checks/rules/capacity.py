"""Whether EC2 will have the nodes, and what they cost while no job runs."""

from collections.abc import Iterator

from trainshed.checks import ClusterInFleet, clusters
from trainshed.checks.neighbours import names_of_others
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import CapacityKind, CapacityPlan, ClusterPlan

# Families whose EFA traffic stays among nodes of one type, as far as EC2's documents say.
_EFA_APART = ("p4d", "p4de", "dl1")


@rule(
    "TS-CAP-001",
    over=clusters,
    title="The instance type has no on-demand price",
    why="""
The EC2 API lists every type as `on-demand`, but AWS's price list has no on-demand price for some,
and AWS's pages offer them in Capacity Blocks. A launch on demand is then likely to be refused for
lack of capacity, and the job waits in `RUNNABLE`.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://aws.amazon.com/ec2/capacityblocks/pricing/",
        "https://aws.amazon.com/ec2/pricing/on-demand/",
    ),
    example="""
region: us-east-2
instance: {type: trn2.48xlarge, nodes: {max: 2}}
""",
)
def not_sold_on_demand(plan: ClusterPlan) -> Iterator[Violation]:
    """A type without an on-demand price is bought in another way."""
    if plan.capacity.kind is CapacityKind.ON_DEMAND:
        for other in plan.capacity.other_types:
            if not other.priced_on_demand:
                yield Violation(
                    path=("capacity", "instance_types"),
                    message=f"AWS publishes no on-demand price for {other.name}: it may launch "
                    "from a Capacity Block or a reservation only",
                    remedy="take it out, unless your account has it on demand",
                )
    if plan.capacity.kind is CapacityKind.ON_DEMAND and not plan.instance.priced_on_demand:
        yield Violation(
            path=("instance", "type"),
            message=f"AWS publishes no on-demand price for {plan.instance.name}: it may launch "
            "from a Capacity Block or a reservation only",
            remedy="buy a Capacity Block and name it in capacity: {capacity_block: cr-...}, or "
            "take a type that is sold on demand",
        )


@rule(
    "TS-CAP-006",
    over=clusters,
    title="Nodes are billed while no job runs",
    why="""
`instance.nodes.min` nodes, and with orchestrator `ec2` all of them, run from the deployment until
the cluster is destroyed.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html",
        "https://aws.amazon.com/ec2/pricing/on-demand/",
    ),
    example="instance: {type: trn1.32xlarge, nodes: {min: 1, max: 4}}",
)
def idle_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever keeps nodes should know that they cost."""
    always = plan.traits.keeps_nodes
    if plan.nodes.min and not plan.capacity.target:
        yield Violation(
            path=("orchestrator",) if always else ("instance", "nodes", "min"),
            message=f"{plan.nodes.min} x {plan.instance.name} run, and are billed, while no job "
            "runs",
            remedy="destroy the cluster when it has no work, or use orchestrator batch"
            if always
            else "set instance.nodes.min to 0",
        )


@rule(
    "TS-CAP-007",
    over=clusters,
    title="A reservation must hold the nodes of all clusters that name it",
    why="""
A node launches only while its reservation or Capacity Block has an instance free, of the same
type and in the same zone. All nodes of a job launch at once, or the job waits.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-overview.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",
    ),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {reservation: cr-0123456789abcdef0, placement_group: example}
""",
)
def reservation_size(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """A reservation has room for every cluster that names it."""
    capacity = plan.capacity
    if capacity.target is None:
        return
    users = [each for each in cluster.fleet.clusters if _share(capacity, each.capacity)]
    nodes = sum(each.nodes.max for each in users)
    others = names_of_others(plan, users)
    question = (
        f"resource-groups list-group-resources --group {capacity.reservation_group}"
        if capacity.reservation_group
        else "ec2 describe-capacity-reservations --capacity-reservation-ids "
        + " ".join(capacity.reservation_ids)
    )
    shared = f", for {others} and this cluster at once" if others else ""
    yield Violation(
        path=("capacity",),
        message=f"{capacity.target} must be for {plan.instance.name} in {plan.zone.name}, and have "
        f"{nodes} instances{' each' if len(capacity.reservation_ids) > 1 else ''}{shared}",
        remedy=f"compare it: aws {question} --region {plan.region}",
    )


def _share(one: CapacityPlan, other: CapacityPlan) -> bool:
    """Return whether two clusters launch nodes into the same reservation, block or group."""
    if one.reservation_group or other.reservation_group:
        return one.reservation_group == other.reservation_group
    return bool({*one.reservation_ids} & {*other.reservation_ids})


@rule(
    "TS-CAP-019",
    over=clusters,
    title="Nodes of several types may not reach each other over EFA",
    why="""
EC2 supports no EFA traffic between P4d, P4de or DL1 and other instance types. Whether it does
between P4d and P4de, the documents leave open. Where it does not, a job on nodes of both hangs.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits",),
    example="""
orchestrator: ec2
instance: {type: p4d.24xlarge, nodes: {max: 2}}
capacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}
""",
)
def efa_between_types(plan: ClusterPlan) -> Iterator[Violation]:
    """A job of several nodes may get some of each type."""
    types = {each.name for each in plan.types}
    apart = sorted(name for name in types if name.partition(".")[0] in _EFA_APART)
    if len(types) > 1 and apart and plan.nodes.max > 1:
        yield Violation(
            path=("capacity", "instance_types"),
            message=f"EC2 supports no EFA between {' or '.join(apart)} and other types: a job on "
            f"{plan.nodes.max} nodes may get both, and hang",
            remedy="name one type, or try collectives on nodes of both first, and accept this",
        )
