"""Whether the nodes, and what they use, are in the same zone."""

from collections.abc import Iterator

from trainshed import catalogue
from trainshed.checks.rule import Basis, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-ZON-001",
    title="The zone is given by its name",
    why="""
Each account maps zone names to zones of its own: `us-west-2a` of one account may be
`us-west-2b` of another. So nobody can say offline whether the zone offers the instance type,
and a cluster file that works in one account may fail in the next.
""",
    sources=("https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html",),
    example="""
name: Example
region: us-west-2
zone: us-west-2a
instance: {type: trn1.32xlarge}
""",
)
def zone_by_name(plan: ClusterPlan) -> Iterator[Violation]:
    """A zone should be given by its ID."""
    if not plan.zone.is_id:
        yield Violation(
            path=("zone",),
            message=f"zone {plan.zone.name} is a name, which each account maps to a different "
            "zone, so what it offers is unknown",
            remedy=f"give a zone ID ({', '.join(catalogue.zone_ids(plan.region))})",
        )


@rule(
    "TS-ZON-002",
    title="What exists may be in another zone than the chosen one",
    why="""
A subnet, a reservation and a Capacity Block have a zone already. Without `zone`, trainshed
takes the first that offers the instance type. If the two differ, nodes do not launch: EC2
refuses a subnet outside the reservation's zone, and nodes that reach their file system across
zones pay for the traffic.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-overview.html",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
capacity: {reservation: cr-0123456789abcdef0}
""",
)
def zone_of_what_exists(plan: ClusterPlan) -> Iterator[Violation]:
    """A zone must be given when something that exists has one."""
    spec = plan.spec
    if spec.zone:
        return
    there = [f"subnet {spec.network.subnet}"] if spec.network.subnet else []
    if plan.capacity.reservation_id:
        there.append(plan.capacity.reservation_id)
    if there:
        yield Violation(
            path=("network", "subnet") if spec.network.subnet else ("capacity",),
            message=f"{' and '.join(there)} may be in another zone than {plan.zone.name}, the "
            f"first that offers {plan.instance.name}, and then nodes may not launch",
            remedy="give the zone's ID (AvailabilityZoneId)",
        )
