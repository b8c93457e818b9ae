"""What a change does to the cost per hour."""

from collections.abc import Collection
from dataclasses import replace

from trainshed.cost import ClusterCost, FleetCost, cluster_cost, fleet_cost
from trainshed.plan import ClusterPlan, Fleet
from trainshed.prices import load_prices
from trainshed.review.model import CostChange


def cluster_cost_change(
    before: ClusterPlan | None, after: ClusterPlan | None, refused: Collection[str]
) -> CostChange:
    """Return what a cluster costs; what it shares with others counts in full.

    Args:
        before: the cluster before the change; None when it is new.
        after: the cluster after it; None when it goes.
        refused: names of the stacks whose deployment fails, so that they stay as they are.

    Raises:
        TrainshedError: the project's own prices cannot be read.
    """
    return _change(
        *(
            cluster_cost(side, load_prices(side.region)) if side else None
            for side in (before, after and _as_deployed(before, after, refused))
        )
    )


def total_cost(before: Fleet, after: Fleet, refused: Collection[str]) -> CostChange:
    """Return what all clusters cost together; what they share counts once.

    Args:
        before: the clusters before the change.
        after: the clusters after it.
        refused: names of the stacks whose deployment fails, so that they stay as they are.

    Raises:
        TrainshedError: the project's own prices cannot be read.
    """
    old = {each.name: each for each in before.clusters}
    deployed = tuple(_as_deployed(old.get(each.name), each, refused) for each in after.clusters)
    return _change(
        *(
            fleet_cost(side, load_prices) if side.clusters else None
            for side in (before, Fleet(clusters=deployed))
        )
    )


def _as_deployed(
    before: ClusterPlan | None, after: ClusterPlan, refused: Collection[str]
) -> ClusterPlan:
    """Return a cluster with the storage that it keeps where a change of that is refused."""
    kept = {each.stack_name: each for each in (before.storages if before else ())}
    storages = tuple(
        kept.get(each.stack_name, each) if each.stack_name in refused else each
        for each in after.storages
    )
    return replace(after, storages=storages)


def _change(
    before: ClusterCost | FleetCost | None, after: ClusterCost | FleetCost | None
) -> CostChange:
    return CostChange(
        idle_before=before.idle if before else None,
        idle_after=after.idle if after else None,
        full_before=before.full if before else None,
        full_after=after.full if after else None,
    )
