"""`trainshed node`: nodes of a cluster, drained, rebooted and replaced."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    cluster_words,
    load_cluster,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, say
from trainshed.cli.progress import progress
from trainshed.errors import TrainshedError
from trainshed.jobs.model import Job
from trainshed.jobs.nodes import Node
from trainshed.repair.repair import Repair, repair_of

app = typer.Typer(
    add_completion=False,
    help="Nodes of a cluster: drained, rebooted, replaced.",
    no_args_is_help=True,
)
NodeArgument = Annotated[
    str,
    typer.Argument(
        help="Number of a running node, the oldest is 0; or an instance id; or an address."
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Do not wait for its jobs: they lose this node.")
]


@app.command()
def drain(
    cluster: ClusterArgument,
    node: NodeArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a node no more jobs. Those that it has go on."""
    repair, chosen = _find(cluster, node, clusters, region)
    # First, so that credentials which may not ask this drain nothing without a word.
    repair.jobs_on(chosen)
    repair.drain(chosen)
    jobs = repair.jobs_on(chosen)
    if as_json:
        print_json(_record(chosen, jobs))
        return
    say(f"{chosen.instance_id} takes no more jobs")
    say(*(f"job {job.job_id} ({job.name}) goes on there" for job in jobs))
    undrain_it = _command("undrain", chosen, cluster_words(cluster, clusters, region))
    say(f"take it back: {undrain_it}")


@app.command()
def undrain(
    cluster: ClusterArgument,
    node: NodeArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a drained node jobs again."""
    repair, chosen = _find(cluster, node, clusters, region)
    jobs = repair.jobs_on(chosen) if as_json else ()
    repair.undrain(chosen)
    if as_json:
        print_json(_record(chosen, jobs))
    else:
        say(f"{chosen.instance_id} takes jobs again")


@app.command()
def reboot(
    cluster: ClusterArgument,
    node: NodeArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    force: ForceOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Reboot a node when its jobs have ended, and give it jobs again when it passes its checks.

    It shows first what it does. After an interruption or a failure the node stays drained.
    """
    repair, chosen = _find(cluster, node, clusters, region)
    jobs = repair.jobs_on(chosen)
    after = "it reboots, checks itself, and takes jobs again"
    _ask(repair, chosen, _steps(repair, jobs, after, force=force), yes=yes, as_json=as_json)
    words = cluster_words(cluster, clusters, region)
    with _stays_drained("reboot", chosen, words, force=force), progress() as show:
        repair.reboot(chosen, force=force, show=show)
    if as_json:
        print_json(_record(chosen, jobs))


@app.command()
def replace(
    cluster: ClusterArgument,
    node: NodeArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    force: ForceOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Terminate a node when its jobs have ended, so that another is launched.

    It shows first what it does. After an interruption or a failure the node stays drained.
    """
    repair, chosen = _find(cluster, node, clusters, region)
    jobs = repair.jobs_on(chosen)
    when = "at once" if repair.keeps_nodes else "for the next job that needs one, or for nodes.min"
    after = f"it is terminated, with what is on its disks, and another is launched {when}"
    steps = _steps(repair, jobs, after, force=force)
    words = cluster_words(cluster, clusters, region)
    if chosen.reservation:
        steps.append(
            f"it is in {chosen.reservation}, so the other one may be on the same hardware: "
            f"{_command('reboot', chosen, words)} is worth a try before"
        )
    _ask(repair, chosen, steps, yes=yes, as_json=as_json)
    with _stays_drained("replace", chosen, words, force=force), progress() as show:
        another = repair.replace(chosen, force=force, show=show)
    if as_json:
        found = another.instance_id if another else None
        print_json({**_record(chosen, jobs), "replacement": found})


def _find(cluster: str, node: str, clusters: str, region: str | None) -> tuple[Repair, Node]:
    plan = load_cluster(cluster, clusters, region)
    repair = repair_of(Region(plan.region), plan.name)
    return repair, repair.find(node)


def _steps(repair: Repair, jobs: Sequence[Job], after: str, *, force: bool) -> list[str]:
    """Return what will happen to a node, and to its jobs."""
    lost = f"loses this node: {repair.control.lost_job}"
    becomes = lost if force else "is waited for, however long it takes"
    return [
        "it takes no more jobs",
        *(f"job {job.job_id} ({job.name}) {becomes}" for job in jobs),
        after,
    ]


def _ask(repair: Repair, node: Node, steps: Sequence[str], *, yes: bool, as_json: bool) -> None:
    """Say what will happen, and ask whether it may.

    Raises:
        TrainshedError: nobody can be asked.
    """
    boot = f", boot: {node.boot}" if node.boot else ""
    say(f"{node.instance_id} of {repair.scheduler.cluster}, {node.address}{boot}", err=True)
    say(*(f"  {step}" for step in steps), err=True)
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise TrainshedError("this is not a terminal, so nothing can be asked: add --yes")
    typer.confirm("do this?", abort=True, err=True)


def _command(verb: str, node: Node, words: Sequence[str], *options: str) -> str:
    """Return the line of a command about a node, whose number changes when an older one ends."""
    return shlex.join(("trainshed", "node", verb, *words, node.instance_id, *options))


@contextmanager
def _stays_drained(verb: str, node: Node, words: Sequence[str], *, force: bool) -> Iterator[None]:
    """Say at an interruption how to go on, or back."""
    try:
        yield
    except KeyboardInterrupt:
        say(
            f"{node.instance_id} stays drained while it is there; go on: "
            f"{_command(verb, node, words, *(('--force',) if force else ()))}; or give it jobs "
            f"again: {_command('undrain', node, words)}",
            err=True,
        )
        raise


def _record(node: Node, jobs: Sequence[Job]) -> dict[str, Any]:
    return {
        "node": node.instance_id,
        "address": node.address,
        "jobs": [job.job_id for job in jobs],
    }
