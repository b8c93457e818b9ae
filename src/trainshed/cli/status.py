"""`trainshed status`: how a cluster is now, on one screen."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

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
from trainshed.cli.output import print_json, rounded, say
from trainshed.prices import load_prices
from trainshed.status.looking import look
from trainshed.status.model import ClusterStatus, Health, NodesStatus, StorageStatus, WindowStatus

app = typer.Typer(add_completion=False)

_LABEL = 10
_TIME = "%Y-%m-%d %H:%M UTC"
# Nodes that run are counted; of the others so many are named.
_MOST_NODES = 8


@app.command()
def status(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a cluster is now: stacks, nodes, jobs, storage, capacity, alarms and cost.

    Exits with 1 when something is wrong. What the credentials may not look at is named, and is not
    taken for wrong.
    """
    plan = load_cluster(cluster, clusters, region)
    found = look(Region(plan.region), plan, load_prices(plan.region), datetime.now(UTC))
    if as_json:
        print_json(rounded(_record(found)))
    else:
        say(*_lines(found))
    raise typer.Exit(bool(found.problems))


def _record(found: ClusterStatus) -> dict[str, Any]:
    nodes = found.nodes and {**asdict(found.nodes), "counts": found.nodes.counts}
    storages = [{**asdict(each), "used_percent": each.used_percent} for each in found.storages]
    return {**asdict(found), "nodes": nodes, "storages": storages}


def _lines(found: ClusterStatus) -> Iterator[str]:
    where = f"{found.cluster} in {found.region}"
    yield f"{where}, orchestrator {found.orchestrator}, {found.at:{_TIME}}"
    stacks = {status or "not deployed" for status in found.stacks.values()}
    for status in sorted(stacks):
        names = [name for name, each in found.stacks.items() if (each or "not deployed") == status]
        yield _line("stacks", f"{status}: {', '.join(names)}")
    yield from _node_lines(found.nodes)
    if found.stopped:
        yield _line("guard", f"{found.stopped.reason}; {found.stopped.remedy}")
    if found.jobs is not None:
        jobs = ", ".join(f"{count} {state}" for state, count in found.jobs.items())
        yield _line("jobs", jobs or "none")
    for storage in found.storages:
        yield _line("storage", _storage_words(storage))
    for window in found.windows:
        yield _line("capacity", _window_words(window, found.at))
    if found.alarms:
        yield _line("alarms", f"{len(found.in_alarm)} of {found.alarms} in ALARM")
    if found.dashboard:
        yield _line("dashboard", found.dashboard)
    if found.cost_per_hour:
        yield _line("cost", f"{found.cost_per_hour} an hour, with the nodes that are there")
    for refused in found.unknown:
        yield _line("not known", refused)
    for problem in found.problems:
        yield _line("wrong", problem)


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}} {text}"


def _node_lines(nodes: NodesStatus | None) -> Iterator[str]:
    if nodes is None:
        return
    counts = [f"{count} {health}" for health, count in nodes.counts.items()]
    wanted = [f"{nodes.wanted} wanted"] if nodes.wanted is not None else []
    yield _line("nodes", ", ".join((*wanted, *(counts or ["none there"]), f"at most {nodes.most}")))
    others = [node for node in nodes.nodes if node.health is not Health.RUNNING]
    for node in others[:_MOST_NODES]:
        reason = f": {node.reason}" if node.reason else ""
        yield _line("", f"{node.instance_id} {node.health}{reason}")
    if more := others[_MOST_NODES:]:
        yield _line("", f"and {len(more)} more, which --json has")


def _storage_words(storage: StorageStatus) -> str:
    words = f"{storage.kind} {storage.name} {storage.state}"
    percent = storage.used_percent
    if percent is not None:
        return (
            f"{words}, {storage.used_gib:,.0f} of {storage.capacity_gib:,.0f} GiB ({percent:.0f} %)"
        )
    if storage.used_gib is not None:
        return f"{words}, {storage.used_gib:,.1f} GiB"
    if storage.capacity_gib is not None:
        return f"{words}, {storage.capacity_gib:,.0f} GiB; how much is used is not known"
    return words


def _window_words(window: WindowStatus, now: datetime) -> str:
    if window.is_lost:
        return f"{window} {window.state}"
    begins = (
        f" begins {window.begins_at:{_TIME}},"
        if window.begins_at and window.begins_at > now
        else " is there,"
    )
    until = f"nodes go at {window.ends_at:{_TIME}}" if window.ends_at else "without an end"
    return f"{window}{begins} {until}"
