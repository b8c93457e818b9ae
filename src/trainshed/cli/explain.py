"""`trainshed explain`: a cluster's interfaces and decisions, each with its reason."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trainshed.checkpoints import advise
from trainshed.cli.checkpoints import print_advice
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClustersOption,
    RegionOption,
    load_cluster,
    load_clusters,
)
from trainshed.cli.object_moves import print_object_moves
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_facts, print_json, print_records, rounded, say
from trainshed.cli.plots import drawing
from trainshed.cost import object_moves
from trainshed.errors import TrainshedError
from trainshed.explain import Explanation, draw_node, explain
from trainshed.findings import Finding, Severity
from trainshed.plan import ClusterPlan, Fleet
from trainshed.prices import load_prices

app = typer.Typer(add_completion=False)

_FACTS = ("nodes", "accelerators", "memory", "place", "capacity", "stacks")


@app.command(name="explain")
def explain_command(
    cluster: Annotated[
        str | None,
        typer.Argument(
            help="Name of a cluster, or its file, with or without .yaml; without it, all of them."
        ),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the network interfaces of one node into this file.",
            metavar="FILE",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the calendar, and the time that checkpoints take against the price of "
            "storage, into this .png or .svg file.",
            metavar="FILE",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a cluster will have, and why: interfaces, addresses, bandwidth, decisions.

    With `training` in its file, also what its checkpoints take on each storage, and what that
    costs. With `storage.bucket.lifecycle`, also from which size on it saves money to move objects.

    Exits with 1 when a finding fails a check, with 2 when a cluster file is wrong.
    """
    if cluster is None:
        if svg:
            raise TrainshedError("--svg draws one node: name a cluster")
        if plot:
            raise TrainshedError("--plot draws one cluster: name it")
        _list(load_clusters(clusters, region), as_json)
        return
    plan = load_cluster(cluster, clusters, region)
    explained, advice = explain(plan), advise(plan, load_prices)
    # Prices are read where something is compared by them.
    moves = object_moves(plan, load_prices(plan.region)) if plan.bucket else ()
    if plot and not advice and not plan.capacity.calendar:
        raise TrainshedError(
            "--plot draws a calendar or a training: give capacity.calendar or training in "
            f"{plan.where.file}"
        )
    if as_json:
        interfaces = [asdict(row) for row in plan.interfaces]
        checkpoints = rounded(asdict(advice)) if advice else None
        print_json(
            asdict(explained)
            | {
                "interfaces": interfaces,
                "checkpoints": checkpoints,
                "object_moves": rounded([asdict(each) for each in moves]),
            }
        )
    else:
        _print(explained)
        if advice:
            print_advice(plan, advice)
        if moves:
            print_object_moves(moves)
    if svg:
        _write(svg, draw_node(plan))
    if plot:
        with drawing(plot):
            from trainshed.explain.plot import plot_cluster

            plot_cluster(plan, advice, plot)
    _exit(explained.findings)


def _list(plans: tuple[ClusterPlan, ...], as_json: bool) -> None:
    fleet = Fleet(clusters=plans)
    explained = [explain(plan, fleet) for plan in plans]
    records = [
        asdict(entry)
        | {
            "findings": [
                finding.rule for finding in entry.findings if finding.severity is not Severity.INFO
            ]
        }
        for entry in explained
    ]
    columns = ("name", "file", "nodes", "place", "capacity", "findings")
    print_records(
        [{key: record[key] for key in columns} for record in records],
        columns=columns,
        headings={"name": "cluster"},
        as_json=as_json,
    )
    _exit(tuple(finding for entry in explained for finding in entry.findings))


def _print(explained: Explanation) -> None:
    for finding in explained.findings:
        say(str(finding))
    facts = {name: getattr(explained, name) for name in _FACTS}
    print_facts(facts, heading=explained.name, values=explained.file)
    if explained.calendar:
        _print_calendar(explained)
    print_records(
        [asdict(row) for row in explained.interfaces],
        columns=("cards", "device", "kind", "ip", "primary", "reason"),
        headings={"cards": "card", "ip": "IP", "reason": "why"},
        title=f"Network interfaces of one node (profile {explained.profile})",
    )
    of_jobs = (
        "that of its job's own interface"
        if explained.job_interface
        else f"{explained.job_addresses} for its pods"
    )
    say(
        f"private addresses: {explained.addresses_per_node} for a node"
        + (f", with {of_jobs}" if explained.job_addresses else "")
        + f"; {explained.addresses} for the largest cluster"
    )
    if explained.efa:
        efa = explained.efa
        say(
            f"EFA bandwidth: {efa.used_gbps:g} of {efa.available_gbps:g} Gbps of a node "
            f"({efa.percent:.0f} %)" + (f"; {efa.left_out}" if efa.left_out else "")
        )
    say(f"monitoring: {explained.monitoring or 'none'}")
    print_records(
        [asdict(decision) for decision in explained.decisions],
        columns=("field", "value", "reason"),
        headings={"field": "decision", "value": "choice", "reason": "why"},
        title="Decisions",
    )


def _print_calendar(explained: Explanation) -> None:
    times = {"begins": "from", "nodes_until": "nodes until", "ends": "until"}
    print_records(
        [
            asdict(row) | {name: f"{getattr(row, name):%Y-%m-%d %H:%M}" for name in times}
            for row in explained.calendar
        ],
        columns=("reservation", *times, "hours", "hours_before", "picture"),
        headings={**times, "hours_before": "hours without nodes before", "picture": "time"},
        title="Calendar (UTC)",
    )


def _write(path: Path, picture: str) -> None:
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise TrainshedError(f"{path} cannot be written: {error.strerror}") from error
    say(f"picture: {path}", err=True)


def _exit(findings: tuple[Finding, ...]) -> None:
    if any(finding.fails for finding in findings):
        raise typer.Exit(1)
