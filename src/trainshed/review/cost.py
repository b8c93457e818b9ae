"""What a change does to the cost per hour."""

from trainshed.cost import ClusterCost, FleetCost, cluster_cost, fleet_cost
from trainshed.plan import ClusterPlan, Fleet
from trainshed.prices import load_prices
from trainshed.review.model import CostChange


def cluster_cost_change(before: ClusterPlan | None, after: ClusterPlan | None) -> CostChange:
    """Return what a cluster costs; what it shares with others counts in full.

    Raises:
        TrainshedError: the project's own prices cannot be read.
    """
    return _change(
        *(
            cluster_cost(side, load_prices(side.region)) if side else None
            for side in (before, after)
        )
    )


def total_cost(before: Fleet, after: Fleet) -> CostChange:
    """Return what all clusters cost together; what they share counts once.

    Raises:
        TrainshedError: the project's own prices cannot be read.
    """
    return _change(
        *(fleet_cost(side, load_prices) if side.clusters else None for side in (before, after))
    )


def _change(
    before: ClusterCost | FleetCost | None, after: ClusterCost | FleetCost | None
) -> CostChange:
    return CostChange(
        idle_before=before.idle if before else None,
        idle_after=after.idle if after else None,
        full_before=before.full if before else None,
        full_after=after.full if after else None,
    )
