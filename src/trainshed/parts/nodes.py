"""The nodes of a cluster, and what is in each of them."""

from collections import Counter
from collections.abc import Iterator

from trainshed.catalogue import ebs
from trainshed.interfaces import efa_bandwidth
from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.prices import ENDPOINT_GB, GP3, GP3_IOPS, GP3_THROUGHPUT, IO2, IO2_IOPS_TIERS, NAT_GB
from trainshed.spec import VolumeType


def nodes_part(plan: ClusterPlan) -> PlannedPart:
    """Return the nodes, with their network cards and accelerators inside."""
    instance, capacity, stack = plan.instance, plan.capacity, plan.name
    most, least = plan.nodes.max, plan.nodes.min
    group = "cluster" if capacity.own_placement_group else capacity.placement_group_name
    version = f":{plan.ami.version}" if plan.ami.version else ""
    on_spot = capacity.kind is CapacityKind.SPOT
    between = " or " if on_spot and plan.traits.spot_order else ", else "
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
        resources=PartResources(stack=stack),
    )
    accelerators = PlannedPart(
        kind="accelerators",
        facts=(Fact(name="accelerators", value=str(instance.accelerator)),),
        resources=PartResources(stack=stack),
    )
    return PlannedPart(
        kind="nodes",
        facts=(
            Fact(name="nodes", value=str(most) if least == most else f"{least} to {most}"),
            Fact(
                name="instance type",
                value=between.join(each.name for each in plan.types),
            ),
            Fact(name="capacity", value=capacity.words),
            Fact(name="placement group", value=group or "none"),
            Fact(name="AMI", value=f"{plan.ami.asked}{version}"),
            Fact(
                name="root volume",
                value=f"{plan.root_volume.gib} GiB, {plan.root_volume.throughput} MiB/s",
                minor=True,
            ),
            *_scratch_facts(plan),
        ),
        charges=tuple(_charges(plan)),
        resources=PartResources(
            stack=stack,
            types=(
                "AWS::EC2::LaunchTemplate",
                "AWS::EC2::PlacementGroup",
                "AWS::ResourceGroups::Group",
                "AWS::AutoScaling::AutoScalingGroup",
            ),
        ),
        parts=(cards, accelerators),
    )


def _scratch_facts(plan: ClusterPlan) -> Iterator[Fact]:
    if plan.scratch and (volumes := plan.scratch.volumes):
        yield Fact(name="scratch volumes", value=volumes.words)
        yield Fact(
            name="speed of each scratch volume",
            value=f"{volumes.throughput} MiB/s, {volumes.iops} IOPS",
            minor=True,
        )


def _charges(plan: ClusterPlan) -> Iterator[Charge]:
    """Yield nodes, what their volumes have more than each gp3 volume, and their traffic."""
    least, most = plan.nodes.min, plan.nodes.max
    # What is reserved is paid for whether nodes run or not (EC2 user guide, "Capacity Reservation
    # pricing and billing" and "Capacity Blocks pricing and billing").
    reserved = plan.capacity.target is not None
    yield Charge(
        component=f"instances, {plan.capacity.kind}",
        item=plan.capacity.price_item(plan.instance.name),
        least=most if reserved else least,
        most=most,
        per_node=not reserved,
    )
    for component, item, units in (*_root_units(plan), *_scratch_units(plan)):
        if units:
            yield Charge(
                component=component, item=item, units=units, least=least, most=most, per_node=True
            )
    if plan.network.cidr is not None:
        yield Charge(component="traffic through the NAT gateway", item=NAT_GB)
        if plan.network.endpoint_services:
            yield Charge(component="traffic through interface endpoints", item=ENDPOINT_GB)


def _root_units(plan: ClusterPlan) -> Iterator[tuple[str, str, int]]:
    root = plan.root_volume
    yield f"root volumes, gp3, {root.gib} GiB each", GP3, root.gib
    yield from _above_gp3("root volumes", root.throughput, root.iops, 1)


def _scratch_units(plan: ClusterPlan) -> Iterator[tuple[str, str, int]]:
    volumes = plan.scratch and plan.scratch.volumes
    if not volumes:
        return
    gib = volumes.count * volumes.gib
    item = GP3 if volumes.type is VolumeType.GP3 else IO2
    yield f"scratch volumes, {volumes.type}, {gib} GiB a node", item, gib
    if volumes.type is VolumeType.GP3:
        yield from _above_gp3("scratch volumes", volumes.throughput, volumes.iops, volumes.count)
        return
    # AWS's price list has three tiers of the IOPS of one volume.
    for item, first, last in IO2_IOPS_TIERS:
        units = volumes.count * max(0, min(volumes.iops, last) - first)
        yield f"scratch volumes, {units} IOPS a node, of {first + 1} to {last}", item, units


def _above_gp3(
    volumes: str, throughput: int, iops: int, count: int
) -> Iterator[tuple[str, str, int]]:
    """Yield what some alike volumes of a node have more than each gp3 volume has."""
    mibps, more = count * (throughput - ebs.GP3_THROUGHPUT), count * (iops - ebs.GP3_IOPS)
    yield f"{volumes}, {mibps} MiB/s more than gp3 has", GP3_THROUGHPUT, mibps
    yield f"{volumes}, {more} IOPS more than gp3 has", GP3_IOPS, more
