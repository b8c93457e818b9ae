"""`trainshed estimate`: how fast, how long and for how much, from published figures only."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.catalogue import known_region
from trainshed.cli.cluster import ALL_CLUSTERS, ClustersOption, load_cluster
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_facts, print_json, print_records, rounded, say
from trainshed.cli.plots import drawing
from trainshed.cli.purchases import purchase_option, wanted_purchases
from trainshed.cost import Total
from trainshed.errors import TrainshedError
from trainshed.estimate import (
    BoughtTraining,
    ComparedType,
    Estimate,
    HeldOut,
    Range,
    Scaling,
    by_purchase,
    check_models,
    compare,
    estimate,
    scaling_model,
    scalings,
)
from trainshed.prices import Purchase, load_prices

app = typer.Typer(add_completion=False)

# The region in which all of the compared types have a price.
_REGION = "us-east-1"


@app.command(name="estimate")
def estimate_command(
    model: Annotated[
        str | None,
        typer.Option(help="Model to train; without it, all that is published."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Name of the cluster, or its file."),
    ] = None,
    nodes: Annotated[int | None, typer.Option(help="Nodes that take part.")] = None,
    purchase: Annotated[
        str | None,
        purchase_option("Also show the cost with nodes bought in this way; or in all ways."),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: Annotated[
        str | None,
        region_option(
            "Region whose prices count; with --model, of clusters that do not name theirs.",
            f"{_REGION}; with --model, AWS_REGION, or that of the profile",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw it into this .png or .svg file.", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how fast a model trains on a cluster, how long it takes and what that costs.

    It rests on published figures only: exit code 2 when there are none for the model, the type or
    so many nodes. Without --model it lists what is published, and compares instance types.
    """
    given = {"--model": model, "--cluster": cluster, "--nodes": nodes}
    missing = [option for option, value in given.items() if value is None]
    if missing and len(missing) < len(given):
        raise TrainshedError(f"give {', '.join(missing)}, too, or none of {', '.join(given)}")
    if model is None or cluster is None or nodes is None:
        if purchase is not None:
            raise TrainshedError(f"--purchase is of one training: give {', '.join(given)}, too")
        _show_published(known_region(region or _REGION), plot, as_json)
        return
    plan = load_cluster(cluster, clusters, region)
    prices = load_prices(plan.region)
    purchases = wanted_purchases(plan.instance, purchase) if purchase is not None else ()
    estimated = estimate(model, plan, nodes, prices)
    bought = list(by_purchase(estimated, plan, prices, purchases))
    checks = _checks_of_the_used_model()
    if as_json:
        facts = asdict(estimated) | {"model_checks": [_check(entry) for entry in checks]}
        if bought:
            facts["purchases"] = [asdict(entry) for entry in bought]
        print_json(rounded(facts))
    else:
        _print(estimated)
        if bought:
            _print_purchases(bought, training=estimated.training)
        _print_checks(checks)
    if plot:
        with drawing(plot):
            from trainshed.estimate.plot import plot_scaling

            plot_scaling(estimated, plot)


def _show_published(region: str, plot: Path | None, as_json: bool) -> None:
    compared = compare(load_prices(region))
    if as_json:
        listed = {
            "scaling": [asdict(entry) for entry in scalings()],
            "comparison": [
                asdict(row) | {"region": region, "usd_per_million": row.usd_per_million}
                for row in compared
            ],
            "model_checks": [_check(entry) for entry in check_models()],
        }
        print_json(rounded(listed))
    else:
        print_records(
            [_published(nodes, entry) for entry in scalings() for nodes in entry.per_second],
            columns=("model", "type", "nodes", "per_second", "efficiency", "hours"),
            headings={"per_second": "sequences/s", "hours": "hours to train"},
            title="Published on several nodes",
        )
        print_records(
            [_compared(row, region) for row in compared],
            columns=("model", "type", "per_second", "price", "date", "million", "status"),
            headings={
                "per_second": "samples/s",
                "price": f"USD/hour, {region}",
                "million": "USD/million samples",
            },
            title="Published on one node, on demand",
        )
        _print_checks(check_models())
        say(f"used: {scaling_model()[0].formula}, whose largest error is the smallest")
    if plot:
        with drawing(plot):
            from trainshed.estimate.plot import plot_comparison

            plot_comparison(compared, plot)


def _print(estimated: Estimate) -> None:
    training = estimated.training
    basis = "published" if estimated.published else "by the model"
    facts = {
        "throughput": f"{_range(estimated.per_second)} {training.sample} a second, {basis}",
        "scaling efficiency": "unknown: no figure for one node is published"
        if estimated.efficiency is None
        else f"{_range(estimated.efficiency, 100)} %",
        "time to train": "unknown: nobody has published one"
        if estimated.hours is None
        else f"{_range(estimated.hours)} hours",
        "cost to train": "unknown, as the time"
        if estimated.cost is None
        else _costs(*estimated.cost),
        f"a million {training.sample}": f"{_range(estimated.hours_per_million)} hours, "
        f"{_costs(*estimated.cost_per_million)}",
        "source": training.source,
    }
    print_facts(
        facts,
        heading=training.model,
        values=f"{estimated.nodes} x {training.instance_type} of {estimated.cluster}",
    )
    if unknown := estimated.cost_per_million[0].unknown:
        say(f"not counted, price unknown: {', '.join(unknown)}")
    for remark in estimated.remarks:
        say(f"note: {remark}")


def _print_purchases(bought: Sequence[BoughtTraining], training: Scaling) -> None:
    print_records(
        [
            {
                "purchase": entry.purchase,
                "cost": _costs(*entry.cost) if entry.cost else "unknown",
                "million": _costs(*entry.cost_per_million) if entry.cost_per_million else "unknown",
            }
            for entry in bought
        ],
        columns=("purchase", "cost", "million"),
        headings={
            "purchase": "nodes bought",
            "cost": "cost to train",
            "million": f"a million {training.sample}",
        },
        title="Cost by purchase",
    )
    if {entry.purchase for entry in bought} - {Purchase.ON_DEMAND, Purchase.SPOT}:
        say("note: commitments and Capacity Blocks are paid for in hours without a training, too")


def _print_checks(checks: tuple[HeldOut, ...]) -> None:
    print_records(
        [_check(entry) | {"error": f"{entry.error_percent:+.1f}"} for entry in checks],
        columns=("model", "training", "fitted", "nodes", "predicted", "published", "error"),
        headings={"model": "model, 1 parameter", "fitted": "fitted on", "error": "error, %"},
        title="Predictions for runs that the model was not fitted on",
    )


def _checks_of_the_used_model() -> tuple[HeldOut, ...]:
    used, _ = scaling_model()
    return tuple(entry for entry in check_models() if entry.model == used.name)


def _check(entry: HeldOut) -> dict[str, Any]:
    return {
        "model": entry.formula,
        "training": entry.training,
        "fitted": entry.fitted,
        "nodes": entry.nodes,
        "predicted": round(entry.predicted, 1),
        "published": round(entry.published, 1),
        "error": round(entry.error_percent, 1),
    }


def _published(nodes: int, entry: Scaling) -> dict[str, Any]:
    per_second = entry.per_second[nodes]
    alone = entry.per_second.get(1)
    low, high = entry.hours.get(nodes, (None, None))
    return {
        "model": entry.model,
        "type": entry.instance_type,
        "nodes": nodes,
        "per_second": per_second,
        "efficiency": alone and f"{100 * per_second / nodes / alone:.1f} %",
        "hours": low if low == high else f"{low} or {high}",
    }


def _compared(row: ComparedType, region: str) -> dict[str, Any]:
    price = str(row.price) if row.price else "unknown"
    if row.price and row.price.region != region:
        price += f" (of {row.price.region})"
    return {
        "model": row.model,
        "type": row.instance_type,
        "per_second": f"{row.per_second:g}",
        "price": price,
        "date": row.price and row.price.date,
        "million": "unknown" if row.usd_per_million is None else f"{row.usd_per_million:.3f}",
        "status": "withdrawn" if row.withdrawn else "listed",
    }


def _range(values: Range, times: float = 1) -> str:
    low, high = values.low * times, values.high * times
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _costs(low: Total, high: Total) -> str:
    return str(low) if low == high else f"{low} to {high}"
