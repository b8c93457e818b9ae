"""Whether the nodes, and what they use, are in the same zone."""

from collections.abc import Iterator

from trainshed import catalogue
from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan, FsxPlan


@rule(
    "TS-ZON-001",
    over=clusters,
    title="The zone is given by its name",
    why="""
Each account maps zone names to zones of its own: `us-west-2a` of one account may be
`us-west-2b` of another. So nobody can say offline whether the zone offers the instance type,
and a cluster file that works in one account may fail in the next.
""",
    sources=("https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html",),
    example="""
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
    over=clusters,
    title="An existing subnet or reservation may be in another zone than the cluster",
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
instance: {type: trn1.32xlarge}
capacity: {reservation: cr-0123456789abcdef0}
""",
)
def zone_of_what_exists(plan: ClusterPlan) -> Iterator[Violation]:
    """A zone must be given when something that exists has one."""
    if plan.zone_is_asked:
        return
    subnet = plan.network.subnet_id
    there = [f"subnet {subnet}"] if subnet else []
    if plan.capacity.target:
        there.append(plan.capacity.target)
    if there:
        yield Violation(
            path=("network", "subnet") if subnet else ("capacity",),
            message=f"{' and '.join(there)} may be in another zone than {plan.zone.name}, the "
            f"first that offers {plan.instance.name}, and then nodes may not launch",
            remedy="give the zone's ID (AvailabilityZoneId)",
        )


@rule(
    "TS-ZON-003",
    over=clusters,
    title="An existing file system may be in another zone than the nodes",
    why="""
A Lustre file system is in one zone. Without `zone`, trainshed takes the first that offers the
instance type. Nodes in another zone mount the file system all the same, but each read and write
crosses zones: it is slower, and AWS bills the traffic in both directions. EFA does not cross zones.
""",
    sources=(
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    ),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 2}}
storage: {lustre: {existing: fs-0123456789abcdef0}}
""",
)
def zone_of_file_system(plan: ClusterPlan) -> Iterator[Violation]:
    """A zone must be given when the file system has one."""
    for storage in plan.storages:
        if isinstance(storage, FsxPlan) and storage.existing and not plan.zone_is_asked:
            yield Violation(
                path=("storage", storage.kind, "existing"),
                message=f"{storage.existing} may be in another zone than {plan.zone.name}, the "
                f"first that offers {plan.instance.name}",
                remedy="give the ID of the file system's zone in zone",
            )


@rule(
    "TS-ZON-004",
    over=clusters,
    title="Only one zone of the region offers the instance type",
    why="""
When EC2 has no capacity for a type in a zone, another zone may have it. Where one zone offers the
type, nodes come from there or not at all.
""",
    severity=Severity.INFO,
    basis=Basis.OBSERVED,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
    ),
    example="instance: {type: trn1n.32xlarge, nodes: {max: 2}}",
)
def only_zone(plan: ClusterPlan) -> Iterator[Violation]:
    """On-demand capacity of one zone may run out."""
    if plan.instance.withdrawn or plan.capacity.target:
        return
    zones = catalogue.zones_offering(plan.instance.name, plan.region)
    others = [
        each for each in catalogue.regions_offering(plan.instance.name) if each != plan.region
    ]
    if len(zones) == 1:
        elsewhere = f", or use another region ({', '.join(others)})" if others else ""
        yield Violation(
            path=("instance", "type"),
            message=f"only {zones[0]} of {plan.region} offers {plan.instance.name}",
            remedy=f"reserve capacity for what must run at a certain time{elsewhere}",
        )
