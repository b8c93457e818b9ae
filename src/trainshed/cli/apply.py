"""`trainshed apply`: bring a deployed cluster to what its file says now."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.apply import ChangeRefusal, ChangeSurvey, survey_change
from trainshed.apply.blue_green import drain, take_back
from trainshed.apply.blue_green import steps as blue_green_steps
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.progress import progress
from trainshed.cli.steps import (
    bring_about,
    check_start,
    find_site,
    look_at,
    look_when_ended,
    say_step,
)
from trainshed.errors import Failure
from trainshed.orchestrators.batch.former import remove_former
from trainshed.review.model import ResourceChange, RiskKind
from trainshed.review.wording import EFFECT_NAMES, RISK_NAMES, counted, effects, growth, kept
from trainshed.up import Site, StepState, steps_of

app = typer.Typer(add_completion=False)

_MOST_PROPERTIES = 3


@app.command()
def apply(
    cluster: ClusterArgument,
    plan_only: Annotated[bool, typer.Option("--plan", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    allow: Annotated[
        list[RiskKind] | None,
        typer.Option(
            help="Go on in spite of a kind of risk; several times for several.",
            metavar="KIND",
            show_default="none",
        ),
    ] = None,
    blue_green: Annotated[
        bool,
        typer.Option(
            "--blue-green", help="With AWS Batch: new nodes beside the old ones, until jobs end."
        ),
    ] = False,
    health: Annotated[
        bool, typer.Option("--health", help="Afterwards, check nodes by a job.")
    ] = False,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a deployed cluster to what its file says now.

    It first shows what differs between the stacks that are deployed and those that the file makes:
    resources, risks, the jobs that go on or may be ended, the order, the cost per hour. Data at
    risk, jobs that may be ended and a deployment that fails stop it, unless --allow names their
    kind. After a failure or an interruption, run the same command again.
    """
    plan = load_cluster(cluster, clusters, region)
    check_start(plan_only=plan_only, yes=yes, as_json=as_json)
    site = find_site(plan, cluster, clusters, region)
    steps = {each.name: each for each in steps_of(site)}
    credentials = look_at(steps["credentials"])
    if credentials.state is not StepState.DONE:
        raise Failure(*credentials.says.splitlines())
    if not plan_only:
        look_when_ended(steps["stacks"])
    with progress() as show:
        change = survey_change(site, show, blue_green=blue_green)
    refusals = [each for each in change.refusals if each.kind not in (allow or ())]
    if as_json:
        print_json(_record(change, refusals))
    else:
        _show(site, change)
    if plan_only:
        _say_refusals(refusals)
        raise typer.Exit(bool(refusals))
    if refusals:
        _say_refusals(refusals)
        raise Failure(f"{plan.name} is not changed")
    if not change.is_none and not yes:
        typer.confirm("apply this?", abort=True, err=True)
    folder = Path("build") / "apply" / plan.name
    deployed = change.stacks[plan.name].template
    first = blue_green_steps(site, folder) if change.switches else take_back(site, folder, deployed)
    for step in first:
        bring_about(step, folder, yes=True)
    for name in ("stacks", "kubernetes", *(("health",) if health else ())):
        if name in steps:
            bring_about(steps[name], folder, yes=True)
    if blue_green:
        _remove_former(site)
    if not health and (look := look_at(steps["health"])).state is StepState.TO_DO:
        say_step(steps["health"], look)


def _remove_former(site: Site) -> None:
    """Wait for the jobs in compute environments that the cluster had before, and delete these."""
    step = drain(site)
    look = look_when_ended(step)
    if look.state is StepState.BLOCKED:
        raise Failure(*look.says.splitlines())
    with progress() as show:
        for name in look.says.split(", ") if look.state is StepState.TO_DO else ():
            remove_former(site.region, name, show)


def _record(change: ChangeSurvey, refusals: Sequence[ChangeRefusal]) -> dict[str, Any]:
    return {
        "stacks": [
            {"name": name, "left_to_do": each.left_to_do} for name, each in change.stacks.items()
        ],
        "changes": [asdict(each) for each in change.comparison.stacks],
        "permissions": [asdict(each) for each in change.comparison.permissions],
        "security_rules": [asdict(each) for each in change.comparison.security_rules],
        "risks": [asdict(each) for each in change.risks],
        "jobs": [asdict(each) for each in change.jobs],
        "unseen_jobs": change.unseen_jobs,
        "switches": change.switches,
        "former": change.former,
        "cost": asdict(change.cost),
        "refused": [asdict(each) for each in refusals],
    }


def _show(site: Site, change: ChangeSurvey) -> None:
    for former in change.former:
        say(
            f"{former}: a former compute environment; {site.ours('apply')} --blue-green deletes it "
            "when its jobs are over"
        )
    if change.is_none:
        count = len(change.stacks)
        say(f"nothing to do: all {count} stacks of {site.plan.name} are as its file has them")
        return
    _show_stacks(change)
    for risk in change.risks:
        say(
            f"{risk.level}: {RISK_NAMES[risk.kind]}: {risk.stack} {risk.resource}: {risk.message}",
            f"  do: {risk.remedy}",
        )
    for each in (*change.comparison.permissions, *change.comparison.security_rules):
        say(f"{each.stack} {'gains' if each.gained else 'loses'}: {each.text}")
    if change.jobs:
        print_records(
            [asdict(each) for each in change.jobs],
            columns=("name", "job_id", "status", "minutes_left", "fate"),
            headings={
                "name": "job that is not over",
                "job_id": "id",
                "status": "is",
                "minutes_left": "minutes left at most",
                "fate": "and then",
            },
        )
    if change.switches:
        say("a new compute environment takes the queue; jobs that run go on in the old one")
    if change.unseen_jobs:
        say(f"jobs are not shown: {change.unseen_jobs}")
    cost = change.cost
    for when, before, after in (
        ("idle", cost.idle_before, cost.idle_after),
        ("at full size", cost.full_before, cost.full_after),
    ):
        say(
            f"cost per hour {when}: {before or 'nothing'} before, {after} after "
            f"({growth(before, after)})"
        )


def _show_stacks(change: ChangeSurvey) -> None:
    """Say what happens to each stack, in the order of their deployment."""
    found = {each.name: each.resources for each in change.comparison.stacks}
    for name, state in change.stacks.items():
        resources = found.get(name, ())
        if not state.left_to_do:
            say(f"{name}: as its file has it")
        elif not state.template:
            say(f"{name}: {state.left_to_do}: {counted(len(resources), 'resource')} to create")
        else:
            say(f"{name}: {effects(resources) or state.left_to_do}")
            say(*(f"  {_resource(each)}" for each in resources))


def _resource(change: ResourceChange) -> str:
    paths = dict.fromkeys(each.path for each in change.properties)
    shown = ", ".join([*paths][:_MOST_PROPERTIES])
    more = f" and {len(paths) - _MOST_PROPERTIES} more" if len(paths) > _MOST_PROPERTIES else ""
    what = f"{EFFECT_NAMES[change.effect]}{kept(change)}"
    return f"{what}: {change.name} ({change.resource_type})" + (f": {shown}{more}" if shown else "")


def _say_refusals(refusals: Sequence[ChangeRefusal]) -> None:
    for each in refusals:
        way = f" (to go on in spite of it: --allow {each.kind})" if each.kind else ""
        say(*f"not applied: {each.text}{way}".splitlines(), err=True)
