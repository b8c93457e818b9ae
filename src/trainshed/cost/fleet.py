"""The cost of all clusters together: what they share counts once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trainshed.cost.model import CostRow, Total, cost_row, total
from trainshed.parts.cluster import planned_cluster
from trainshed.parts.model import inside_out
from trainshed.plan import Fleet
from trainshed.prices import PriceList


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCost:
    """What clusters cost together.

    Attributes:
        idle: an hour in which no job runs.
        full: an hour in which all are at full size.
    """

    idle: Total
    full: Total


def fleet_cost(fleet: Fleet, prices: Callable[[str], PriceList]) -> FleetCost:
    """Work out what clusters cost together.

    Args:
        fleet: the clusters.
        prices: gives those of a region.
    """
    rows = tuple(_rows(fleet, prices))
    return FleetCost(
        idle=total((name, row.idle_usd_per_hour) for name, row in rows),
        full=total((name, row.full_usd_per_hour) for name, row in rows),
    )


def _rows(fleet: Fleet, prices: Callable[[str], PriceList]) -> Iterator[tuple[str, CostRow]]:
    """Yield what is paid for but not by use, each with its name: whose it is, and what."""
    lists = {region: prices(region) for region in {each.region for each in fleet.clusters}}
    networks = fleet.networks
    found = {}
    for cluster in fleet.clusters:
        with_others = replace(cluster, network=networks[cluster.network.stack_name])
        for part in inside_out(planned_cluster(with_others)):
            for charge in part.charges:
                # Clusters that share a stack are in one region. What has no resources of its own,
                # as the zone, is not shared.
                if not charge.by_use:
                    stack = part.resources.stack if part.resources else cluster.name
                    found[f"{stack}: {charge.component}"] = cost_row(charge, lists[cluster.region])
    yield from found.items()
