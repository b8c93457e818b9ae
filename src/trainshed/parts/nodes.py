"""The nodes of a cluster, and what is in each of them."""

from collections import Counter

from trainshed.interfaces import efa_bandwidth
from trainshed.parts.model import Behind, Fact, PlannedPart
from trainshed.plan import ClusterPlan


def nodes_part(plan: ClusterPlan) -> PlannedPart:
    """Return the nodes, with their network cards and accelerators inside."""
    instance, capacity, stack = plan.instance, plan.capacity, plan.name
    most, least = plan.nodes.max, plan.nodes.min
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
            Fact(
                name="root volume",
                value=f"{plan.root_volume.gib} GiB, {plan.root_volume.throughput} MiB/s",
                minor=True,
            ),
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
