"""`trainshed top`: what all nodes of a cluster do, in one table that changes."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, rich_line, rounded, say
from trainshed.errors import Failure
from trainshed.jobs.nodes import Node, pick_node, running_nodes
from trainshed.orchestrators import traits
from trainshed.plan import ClusterPlan
from trainshed.status.usage import AcceleratorUsage, NodeUsage, UsageAsker

app = typer.Typer(add_completion=False)

# Of a terminal's height, those that are not for nodes: heading, time, a rest.
_OTHER_LINES, _FEWEST_ROWS, _MOST_PROBLEMS = 3, 3, 8
_GIGA, _GIB = 1e9, 1024
_NODES = {
    "node": "#",
    "instance": "instance",
    "boot": "boot",
    "busy": "busy %",
    "memory": "mem %",
    "celsius": "°C",
    "sent": "out",
    "received": "in",
    "retransmitted": "resent",
    "errors": "errors",
    "problem": "problem",
}
_ACCELERATORS = {
    "accelerator": "#",
    "busy": "busy %",
    "memory": "memory, GiB",
    "celsius": "°C",
    "watts": "W",
    "errors": "errors",
}
Rows = Sequence[Mapping[str, Any]]


@app.command()
def top(
    cluster: ClusterArgument,
    node: Annotated[
        str | None,
        typer.Option(
            help="Each accelerator of one node: its number, an instance id or an address.",
            metavar="NODE",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    interval: Annotated[
        float, typer.Option(min=1, help="Seconds between two looks.", metavar="SECONDS")
    ] = 10,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what all nodes do now: accelerators, memory, temperature and EFA, until Ctrl-C.

    Each look is a command of Systems Manager to the nodes that run, whichever orchestrator the
    cluster has. --json looks once. With --once or --json it exits with 1 when a node does not
    answer, or something is wrong with it.
    """
    plan = load_cluster(cluster, clusters, region)
    asker = UsageAsker(Region(plan.region))
    if once or as_json:
        nodes, found = _look(asker, plan, node)
        if as_json:
            print_json(rounded([asdict(each) for each in found]))
        else:
            _print(nodes, found, node is not None)
        raise typer.Exit(any(each.problem for each in found))
    with _display(node is not None) as show:
        while True:
            show(*_look(asker, plan, node))
            time.sleep(interval)


def _look(
    asker: UsageAsker, plan: ClusterPlan, wanted: str | None
) -> tuple[tuple[Node, ...], tuple[NodeUsage, ...]]:
    """Return the nodes that run, and what all of them, or the one that is wanted, say."""
    nodes = running_nodes(Region(plan.region), plan.name)
    if not nodes:
        come = (
            "" if traits(plan.orchestrator).keeps_nodes else "; nodes of AWS Batch come with a job"
        )
        raise Failure(
            f"no node of {plan.name} runs in {plan.region}{come}; what is deployed, and why: "
            f"trainshed status {plan.name}"
        )
    asked = nodes if wanted is None else (pick_node(nodes, wanted),)
    return nodes, asker.ask([each.instance_id for each in asked])


@contextmanager
def _display(
    of_one: bool,
) -> Iterator[Callable[[tuple[Node, ...], tuple[NodeUsage, ...]], None]]:
    """Give a function that shows a look: in place on a terminal, below the others elsewhere."""
    if not sys.stdout.isatty():
        yield lambda nodes, found: _print(nodes, found, of_one)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console()
    with Live(console=console, auto_refresh=False, screen=False) as live:
        yield lambda nodes, found: live.update(
            _drawn(nodes, found, of_one, console.height), refresh=True
        )


def _print(nodes: tuple[Node, ...], found: tuple[NodeUsage, ...], of_one: bool) -> None:
    say(_looked(nodes, found, of_one))
    headings, rows = _table_of(nodes, found, of_one)
    print_records(rows, columns=headings, headings=headings)
    for each in found if of_one else ():
        say(*_words(each))


def _drawn(nodes: tuple[Node, ...], found: tuple[NodeUsage, ...], of_one: bool, height: int) -> Any:
    from rich.console import Group
    from rich.table import Table

    headings, rows = _table_of(nodes, found, of_one)
    # A problem is too long for a column.
    problems = [
        f"{row['node']} {row['instance']}: {row['problem']}" for row in rows if row.get("problem")
    ][:_MOST_PROBLEMS]
    lines = [line for each in found for line in _words(each)] if of_one else problems
    most = max(_FEWEST_ROWS, height - _OTHER_LINES - len(lines))
    # Where not all fit, those with a problem are what somebody looks for.
    kept = sorted(range(len(rows)), key=lambda index: not rows[index].get("problem"))[:most]
    # Without lines, and one space between columns, so that it fits 80 characters.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    columns = [name for name in headings if name != "problem"]
    for name in columns:
        side: Any = "left" if name in ("instance", "boot") else "right"
        table.add_column(headings[name], no_wrap=True, justify=side)
    for index in sorted(kept):
        table.add_row(*(rich_line(str(rows[index][name])) for name in columns))
    left = f"; and {len(rows) - len(kept)} more" if len(kept) < len(rows) else ""
    return Group(table, *map(rich_line, (*lines, f"{_looked(nodes, found, of_one)}{left}")))


def _looked(nodes: tuple[Node, ...], found: tuple[NodeUsage, ...], of_one: bool) -> str:
    unit = "" if of_one else "; out, in: GB/s of EFA"
    return f"{datetime.now(UTC):%H:%M:%S} UTC, {len(found)} of {len(nodes)} nodes{unit}"


def _table_of(
    nodes: tuple[Node, ...], found: tuple[NodeUsage, ...], of_one: bool
) -> tuple[Mapping[str, str], Rows]:
    if of_one:
        [node] = found
        return _ACCELERATORS, [_accelerator_row(each) for each in node.accelerators]
    places = {node.instance_id: index for index, node in enumerate(nodes)}
    rows = ((places[each.instance_id], each) for each in found)
    return _NODES, [_node_row(place, nodes[place], each) for place, each in rows]


def _node_row(place: int, node: Node, usage: NodeUsage) -> Mapping[str, Any]:
    parts, efa = usage.accelerators, usage.efa
    busy = [each.busy_percent for each in parts if each.busy_percent is not None]
    used = _percent(parts)
    hot = [each.celsius for each in parts if each.celsius is not None]
    errors = sum(each.errors or 0 for each in parts) + (efa.faults if efa else 0)
    return {
        "node": place,
        "instance": node.instance_id,
        # The reason of a failed boot is in `trainshed status`.
        "boot": "drained" if node.drained else node.boot.partition(":")[0],
        "busy": _span(busy),
        "memory": "" if used is None else f"{used:.0f}",
        "celsius": f"{max(hot):.0f}" if hot else "",
        "sent": f"{efa.sent_per_second / _GIGA:.2f}" if efa and efa.devices else "",
        "received": f"{efa.received_per_second / _GIGA:.2f}" if efa and efa.devices else "",
        "retransmitted": efa.retransmitted if efa and efa.devices else "",
        "errors": f"{errors:.0f}" if efa or parts else "",
        "problem": usage.problem,
    }


def _span(values: Sequence[float]) -> str:
    """Return the average, and the least and the most where they differ."""
    if not values:
        return ""
    average = f"{sum(values) / len(values):.0f}"
    least, most = f"{min(values):.0f}", f"{max(values):.0f}"
    return average if least == most else f"{average} ({least}-{most})"


def _percent(parts: Iterable[AcceleratorUsage]) -> float | None:
    known = [(each.used_mib, each.total_mib) for each in parts if each.used_mib is not None]
    total = sum(of or 0 for _, of in known)
    return 100 * sum(used for used, _ in known) / total if total else None


def _accelerator_row(each: AcceleratorUsage) -> Mapping[str, Any]:
    total = "" if each.total_mib is None else f" of {each.total_mib / _GIB:.0f}"
    return {
        "accelerator": each.index,
        "busy": "" if each.busy_percent is None else f"{each.busy_percent:.0f}",
        "memory": "" if each.used_mib is None else f"{each.used_mib / _GIB:.1f}{total}",
        "celsius": "" if each.celsius is None else f"{each.celsius:.0f}",
        "watts": "" if each.watts is None else f"{each.watts:.0f}",
        "errors": "" if each.errors is None else f"{each.errors:.0f}",
    }


def _words(node: NodeUsage) -> Iterator[str]:
    """Yield what the table of one node does not have."""
    efa = node.efa
    if efa:
        yield (
            f"EFA, {efa.devices} devices: {efa.sent_per_second / _GIGA:.2f} GB/s out, "
            f"{efa.received_per_second / _GIGA:.2f} GB/s in, {efa.retransmitted} packets resent, "
            f"{efa.timeouts} time-outs, {efa.dropped} dropped, {efa.faults} faults of peers"
        )
    if node.memory_used_mib is not None and node.memory_total_mib is not None:
        yield (
            f"load {node.load:g} on {node.cpus} processors, memory "
            f"{node.memory_used_mib / _GIB:.0f} of {node.memory_total_mib / _GIB:.0f} GiB"
        )
    if node.problem:
        yield f"problem: {node.problem}"
