"""The cost of all clusters together: what they share counts once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trainshed.cost.model import CostRow, Total, total
from trainshed.cost.rows import lustre_rows, network_rows, node_rows
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
    """Yield what is paid for, each with its name: whose it is, and what."""
    lists = {region: prices(region) for region in {each.region for each in fleet.clusters}}
    # Clusters that share a stack are in one region.
    found = {}
    for cluster in fleet.clusters:
        here = lists[cluster.region]
        network = fleet.networks[cluster.network.stack_name]
        found[cluster.name] = tuple(node_rows(cluster, here))
        found[network.stack_name] = tuple(network_rows(network, here))
        if cluster.lustre:
            found[cluster.lustre.stack_name] = tuple(lustre_rows(cluster.lustre, here))
    for owner, rows in found.items():
        yield from ((f"{owner}: {row.component}", row) for row in rows)
