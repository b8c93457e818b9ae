"""Whether nodes are close to each other."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Violation, rule
from trainshed.plan import CapacityKind, ClusterPlan


@rule(
    "TS-CAP-005",
    over=clusters,
    title="Nodes of a reservation may be far from each other",
    why="""
AWS Batch's pages on EFA and on jobs of several nodes ask for one cluster placement group.
Only a reservation that was made in such a group can be launched into one; any other may be spread
over the zone, and collectives between its nodes are slower. Capacity Blocks need no group.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html",
        "https://docs.aws.amazon.com/batch/latest/userguide/efa.html",
        "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
    ),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {reservation: cr-0123456789abcdef0}
""",
)
def reservation_without_group(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes that work together belong close to each other."""
    capacity = plan.capacity
    reserved = capacity.kind is CapacityKind.RESERVATION
    were = "were" if capacity.calendar else "was"
    if reserved and plan.nodes.max > 1 and not capacity.placement_group_name:
        yield Violation(
            path=("capacity",),
            message=f"nothing says that {capacity.target} {were} made in a cluster placement "
            "group, so its nodes may be far from each other",
            remedy="take Capacity Blocks, which AWS places close to each other, or one reservation "
            "of a cluster placement group"
            if capacity.calendar
            else "make the reservation in a cluster placement group and name the group in "
            "capacity.placement_group",
        )
