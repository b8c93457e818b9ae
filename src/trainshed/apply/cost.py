"""What an hour of a cluster costs, with the nodes that are deployed and with those of its file."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from trainshed import catalogue
from trainshed.cost import cluster_cost
from trainshed.cost.model import Total
from trainshed.orchestrators import part
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.prices import load_prices
from trainshed.review.model import CostChange, StackChange
from trainshed.spec import NodeRange

_LAUNCH_TEMPLATE = "AWS::EC2::LaunchTemplate"
_FILE_SYSTEMS = ("AWS::EFS::FileSystem", "AWS::FSx::FileSystem")
_STORAGE = "storage as it is deployed"
_MARKETS = {"spot": CapacityKind.SPOT, "capacity-block": CapacityKind.CAPACITY_BLOCK}


def cost_change(
    plan: ClusterPlan, template: Mapping[str, Any], changes: Iterable[StackChange]
) -> CostChange:
    """Return what the cluster costs before and after.

    Templates say what nodes are deployed; their disks count as the file has them. So does storage,
    and where a file system differs, as something whose price before is not known.

    Args:
        plan: of the cluster file.
        template: of the cluster's deployed stack; empty for none.
        changes: what differs in its stacks.
    """
    prices = load_prices(plan.region)
    after = cluster_cost(plan, prices)
    deployed = as_deployed(plan, template)
    before = cluster_cost(deployed, prices) if deployed else None
    differs = any(
        resource.resource_type in _FILE_SYSTEMS for stack in changes for resource in stack.resources
    )
    return CostChange(
        idle_before=_counted(before.idle, differs) if before else None,
        idle_after=after.idle,
        full_before=_counted(before.full, differs) if before else None,
        full_after=after.full,
    )


def as_deployed(plan: ClusterPlan, template: Mapping[str, Any]) -> ClusterPlan | None:
    """Return a cluster with the nodes that its deployed stack has; None where it has none."""
    resources = template.get("Resources", {}).values()
    kind = part(plan.orchestrator, "risks").LAUNCHES_NODES
    launch = next((each["Properties"] for each in resources if each["Type"] == kind), None)
    if launch is None:
        return None
    data: Mapping[str, Any] = next(
        (
            each["Properties"]["LaunchTemplateData"]
            for each in resources
            if each["Type"] == _LAUNCH_TEMPLATE
        ),
        {},
    )
    # Who launches nodes of several types names them, and AWS Batch always does.
    listed = {**launch, **launch.get("ComputeResources", {})}.get("InstanceTypes", ())
    name = data.get("InstanceType") or next(iter(listed), "")
    if name not in set(catalogue.all_types()):
        return None
    instance = catalogue.lookup(name)
    least, most = part(plan.orchestrator, "deployed").node_range(launch, instance)
    return replace(
        plan,
        instance=instance,
        nodes=NodeRange(min=least, max=most),
        capacity=replace(plan.capacity, kind=_purchase(launch, data)),
    )


def _purchase(launch: Mapping[str, Any], data: Mapping[str, Any]) -> CapacityKind:
    """Return how the nodes are bought; AWS Batch and EKS say Spot where they launch."""
    market = data.get("InstanceMarketOptions", {}).get("MarketType")
    if market in _MARKETS:
        return _MARKETS[market]
    if "SPOT" in (launch.get("ComputeResources", {}).get("Type"), launch.get("CapacityType")):
        return CapacityKind.SPOT
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget")
    return CapacityKind.RESERVATION if target else CapacityKind.ON_DEMAND


def _counted(total: Total, differs: bool) -> Total:
    return replace(total, unknown=(*total.unknown, _STORAGE)) if differs else total
