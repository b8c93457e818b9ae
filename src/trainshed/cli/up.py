"""`trainshed up`: from an empty account to a first job, by the steps that are not done yet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from trainshed.aws import BadCredentials
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, say
from trainshed.cli.steps import bring_about, check_start, find_site, look_at, say_step
from trainshed.errors import TrainshedError
from trainshed.monitoring import dashboard_url
from trainshed.plan.ami import AMI_ID
from trainshed.up import Look, Step, StepState, steps_of

app = typer.Typer(add_completion=False)


@app.command()
def up(
    cluster: ClusterArgument,
    plan_only: Annotated[
        bool,
        typer.Option("--plan", help="Only show the steps, and how far each has come."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before what costs.")] = False,
    ami: Annotated[
        str | None,
        typer.Option(help="AMI to publish for the nodes.", show_default="bake one", metavar="AMI"),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Nodes of the first job.",
            show_default="2, or all where they are always there",
            metavar="NODES",
        ),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a cluster from an empty account to its first job.

    Each step asks AWS whether it is done; those that are not run the commands that --plan shows. A
    step that costs something asks first. After a failure or an interruption, run it again: it goes
    on where it stopped. `trainshed teardown` is the way back.
    """
    plan = load_cluster(cluster, clusters, region)
    if ami is not None and not AMI_ID.fullmatch(ami):
        raise TrainshedError(f"--ami {ami}: this is not an AMI id (ami- and 8 or 17 hex digits)")
    check_start(plan_only=plan_only, yes=yes, as_json=as_json)
    most = plan.nodes.max
    if nodes and nodes > most:
        raise TrainshedError(
            f"--nodes {nodes}: {plan.name} has at most {most} nodes; ask for fewer, or raise "
            "instance.nodes.max in its file"
        )
    site = find_site(plan, cluster, clusters, region, nodes=nodes, given_ami=ami)
    steps = steps_of(site)
    if plan_only:
        raise typer.Exit(_show_plan(steps, as_json))
    for step in steps:
        bring_about(step, Path("build") / "up" / plan.name, yes=yes)
    if plan.monitoring:
        say(f"its dashboard: {dashboard_url(plan.name, plan.region)}", err=True)
    say(f"{plan.name} is up; submit a job: {site.ours('job', 'submit')} -- COMMAND", err=True)


def _show_plan(steps: Sequence[Step], as_json: bool) -> bool:
    """Show how far each step has come; return whether one is blocked."""
    looks: list[Look] = []
    for step in steps:
        stopped = any(each.state is StepState.BLOCKED for each in looks[:1])
        later = Look(state=StepState.LATER, says="needs credentials")
        try:
            looks.append(later if stopped else look_at(step))
        except BadCredentials as error:
            looks.append(Look(state=StepState.BLOCKED, says=str(error)))
    records = [
        {
            "step": step.name,
            "what": step.title,
            "state": look.state,
            "says": look.says,
            "commands": look.commands,
            "minutes": look.minutes,
            "price": look.price,
        }
        for step, look in zip(steps, looks, strict=True)
    ]
    if as_json:
        print_json(records)
    else:
        for step, look in zip(steps, looks, strict=True):
            say_step(step, look)
    return any(each.state is StepState.BLOCKED for each in looks)
