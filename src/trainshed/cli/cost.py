"""`trainshed cost`: what a cluster costs, and how to ask AWS for today's prices."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from trainshed.aws import Region, regions
from trainshed.cli.cluster import ALL_CLUSTERS, ClustersOption, RegionOption, load_cluster
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_json, print_records, rounded, say
from trainshed.cli.purchases import price_words, print_purchases, purchase_option, source_words
from trainshed.cost import HOURS_PER_MONTH, ClusterCost, CostRow, amount, cluster_cost
from trainshed.errors import TrainshedError
from trainshed.prices import OWN_FILE, load_prices, unit_of
from trainshed.prices.price_list import PRICE_LIST_REGION
from trainshed.prices.sync import synchronise


class _ClusterFirst(TyperGroup):
    """Takes what is not a command for the arguments of `show`."""

    default = "show"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before a cluster or an option of it."""
        ours = {*self.commands, *ctx.help_option_names}
        return super().parse_args(ctx, args if args and args[0] in ours else [self.default, *args])


app = typer.Typer(
    add_completion=False, cls=_ClusterFirst, help="What a cluster costs: trainshed cost CLUSTER."
)


@app.command()
def show(
    cluster: Annotated[
        str,
        typer.Argument(help="Name of a cluster, or its file, with or without .yaml."),
    ],
    nodes: Annotated[
        int | None,
        typer.Option(help="Nodes of one run.", show_default="all of the cluster"),
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option(help="Hours of one run, whose cost is shown too."),
    ] = None,
    purchase: Annotated[
        str | None,
        purchase_option("Show what a node costs, bought in this way; or in all ways."),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a cluster costs per hour, idle and at full size, and per month.

    The word show can be left out. An unknown price is not counted, and the totals say so.
    """
    plan = load_cluster(cluster, clusters, region)
    prices = load_prices(plan.region)
    if purchase is not None:
        if nodes is not None or hours is not None:
            raise TrainshedError(
                "--purchase compares prices of one node: leave out --nodes and --hours"
            )
        print_purchases(plan, prices, purchase, as_json)
        return
    cost = cluster_cost(plan, prices, nodes=nodes, hours=hours)
    if as_json:
        print_json(rounded(_json(cost)))
    else:
        _print(cost)


def _print(cost: ClusterCost) -> None:
    rows = [
        {
            "component": row.component,
            "idle": _amount(row, row.idle_usd_per_hour),
            "full": _amount(row, row.full_usd_per_hour),
            "run": _amount(row, row.run_usd_per_hour),
        }
        for row in cost.rows
    ]
    headings = {"idle": "idle, USD/hour", "full": "full size, USD/hour"}
    if cost.run:
        headings["run"] = f"run on {cost.run.nodes} nodes, USD/hour"
    print_records(
        rows,
        columns=("component", *headings),
        headings=headings,
        title=f"{cost.name} in {cost.region}",
    )
    _print_prices(cost)
    print_records(
        [
            {"way": way.purchase.value, "price": price_words(way.price), "remark": way.remark}
            for way in cost.ways
        ],
        columns=("way", "price", "remark"),
        headings={"way": "a node", "price": "USD/hour"},
        title=f"Ways to buy a node{f' of {cost.by_type[0].instance_type}' if cost.by_type else ''}",
    )
    if cost.by_type:
        _print_types(cost)
    for name, an_hour, a_month in (
        ("idle", cost.idle, cost.idle_month),
        ("full size", cost.full, cost.full_month),
    ):
        of_month = f", {a_month} per month of {HOURS_PER_MONTH} hours" if a_month else ""
        say(f"{name}: {an_hour} per hour{of_month}")
    if run := cost.run:
        more = f" ({run.billed_nodes} are there)" if run.billed_nodes != run.nodes else ""
        say(f"run on {run.nodes} nodes{more} for {run.hours:g} hours: {run.cost}")
    if unknown := cost.unknown:
        say(f"not counted, price unknown: {', '.join(unknown)}")
    if by_use := [row.component for row in cost.rows if row.by_use]:
        say(f"not counted, paid for by use: {', '.join(by_use)}")
    for remark in cost.remarks:
        say(f"note: {remark}")


def _print_types(cost: ClusterCost) -> None:
    headings = {
        "type": "all nodes of",
        "price": "a node, USD/hour",
        "idle": "idle, per hour",
        "full": "full size, per hour",
        "month": f"full size, {HOURS_PER_MONTH} hours",
    }
    if cost.run:
        headings["run"] = f"run on {cost.run.nodes} nodes for {cost.run.hours:g} hours"
    print_records(
        [
            {
                "type": each.instance_type,
                "price": price_words(each.price),
                "idle": each.idle,
                "full": each.full,
                "month": each.full_month,
                "run": each.run,
            }
            for each in cost.by_type
        ],
        columns=tuple(headings),
        headings=headings,
        title="By type",
    )


def _print_prices(cost: ClusterCost) -> None:
    records = [
        {
            "component": row.component,
            "price": price_words(row.price),
            "unit": unit_of(row.item).value,
            "region": row.price.region if row.price else cost.region,
            "date": row.price and row.price.date,
            "source": source_words(row.item, row.price),
        }
        for row in cost.rows
    ]
    print_records(
        records,
        columns=("component", "price", "unit", "region", "date", "source"),
        headings={"price": "USD"},
        title="Prices",
    )


def _amount(row: CostRow, usd: float | None) -> str:
    if row.by_use:
        return "by use"
    return "unknown" if usd is None else amount(usd)


def _json(cost: ClusterCost) -> dict[str, Any]:
    rows = [
        asdict(row)
        | {
            "region": row.price.region if row.price else cost.region,
            "idle_usd_per_hour": row.idle_usd_per_hour,
            "full_usd_per_hour": row.full_usd_per_hour,
            "run_usd_per_hour": row.run_usd_per_hour,
        }
        for row in cost.rows
    ]
    months = {"idle_month": cost.idle_month, "full_month": cost.full_month}
    totals = {name: month and asdict(month) for name, month in months.items()}
    return asdict(cost) | {"rows": rows, **totals}


@app.command()
def sync(
    region: Annotated[
        list[str] | None, region_option("Region whose prices to ask for; give it again for more.")
    ] = None,
    output: Annotated[
        Path, typer.Option(help="File of prices to refresh.", metavar="FILE")
    ] = OWN_FILE,
    as_json: JsonOption = False,
) -> None:
    """Ask AWS for today's prices, and write them into the project's own prices.json.

    Needs pricing:GetProducts, savingsplans:DescribeSavingsPlansOfferingRates and
    ec2:DescribeSpotPriceHistory. Nothing is written before every region has answered. Prices that
    AWS does not return stay as they are in the file.
    """
    refreshed = synchronise(
        regions(region),
        Region(PRICE_LIST_REGION),
        datetime.now(UTC),
        output,
        lambda name: say(f"asking for {name}", err=True),
    )
    if as_json:
        print_json([asdict(entry) for entry in refreshed])
        return
    for entry in refreshed:
        for item, (before, now) in entry.changed.items():
            say(f"{entry.region} {item}: {before or 'unknown'} -> {now}")
        for unclear in entry.unclear:
            say(f"{entry.region} {unclear.item}: not refreshed: {unclear.reason}")
        say(f"{output} has {entry.region}: {len(entry.changed)} changed, {entry.same} same")
