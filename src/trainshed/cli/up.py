"""`trainshed up`: from an empty account to a first job, by the steps that are not done yet."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated

import typer

from trainshed.app.synthesis import read_app
from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, rich_line, say
from trainshed.errors import Failure, TrainshedError
from trainshed.explain import is_path
from trainshed.plan.ami import AMI_ID
from trainshed.up import Look, Site, Step, StepState, require_npx, run_command, steps_of

app = typer.Typer(add_completion=False)

# Where nodes come for jobs, so many are checked.
_NODES = 2
# Between two looks at what AWS is at work on.
_LOOK_SECONDS = 10
# Of a log, for which a line for each event is too much.
_LINE_SECONDS = 30


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
    if as_json and not plan_only:
        raise TrainshedError("--json is for --plan: a run prints its steps as they end")
    if not (plan_only or yes or sys.stdin.isatty()):
        raise TrainshedError(
            "this is not a terminal, so nothing can be asked: add --yes, or --plan to look only"
        )
    # Before AWS is asked for anything: what later steps run needs them.
    read_app(Path())
    if not plan_only:
        require_npx()
    most = plan.nodes.max
    if nodes and nodes > most:
        raise TrainshedError(
            f"--nodes {nodes}: {plan.name} has at most {most} nodes; ask for fewer, or raise "
            "instance.nodes.max in its file"
        )
    site = Site(
        load=lambda: load_cluster(cluster, clusters, region),
        words=_words(cluster, clusters, region),
        files=_files(plan.where.file, cluster, clusters),
        region=Region(plan.region),
        nodes=nodes or max(plan.nodes.min, min(_NODES, most)),
        given_ami=ami,
    )
    steps = steps_of(site)
    if plan_only:
        raise typer.Exit(_show_plan(steps, as_json))
    for step in steps:
        _bring_about(step, Path("build") / "up" / plan.name, yes=yes)
    say(f"{plan.name} is up; submit a job: {site.ours('job', 'submit')} -- COMMAND", err=True)


def _words(cluster: str, clusters: str, region: str | None) -> tuple[str, ...]:
    """Return the words by which other commands find the same cluster."""
    files = () if clusters == ALL_CLUSTERS else ("--clusters", clusters)
    return (cluster, *files, *(("--region", region) if region else ()))


def _files(file: str, cluster: str, clusters: str) -> str | None:
    """Return what the app is given by `-c clusters=`; None where it finds the file by itself."""
    if clusters != ALL_CLUSTERS:
        return clusters
    # Alone, it would take what it shares with others from them.
    found = {each.resolve() for each in Path().glob(ALL_CLUSTERS)}
    return file if is_path(cluster) and Path(file).resolve() not in found else None


def _show_plan(steps: Sequence[Step], as_json: bool) -> bool:
    """Show how far each step has come; return whether one is blocked."""
    looks: list[Look] = []
    for step in steps:
        stopped = any(each.state is StepState.BLOCKED for each in looks[:1])
        later = Look(state=StepState.LATER, says="needs credentials")
        looks.append(later if stopped else _look(step))
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
            _say_step(step, look)
    return any(each.state is StepState.BLOCKED for each in looks)


def _look(step: Step) -> Look:
    """Ask how far a step has come; one that cannot be asked is blocked."""
    try:
        return step.look()
    except TrainshedError as error:
        return Look(state=StepState.BLOCKED, says=str(error))


def _look_when_ended(step: Step) -> Look:
    """Ask how far a step has come, and wait until AWS has done what it was asked before."""
    look = _look(step)
    if look.state is not StepState.AT_WORK:
        return look
    _say_step(step, look)
    with _status(step.title) as show:
        while look.state is StepState.AT_WORK:
            show(look.says)
            sleep(_LOOK_SECONDS)
            look = _look(step)
    return look


def _say_step(step: Step, look: Look) -> None:
    """Print how far a step has come, and its commands with what they take."""
    first, *rest = look.says.splitlines()
    say(_line(look.state, f"{step.title}: {first}"), *(_line("", each) for each in rest))
    if look.commands:
        minutes = f"about {look.minutes} min" if look.minutes else "less than a minute"
        effort = f"on AWS {minutes}{f', {look.price}' if look.price else ''}"
        say(*(_line("", f"$ {each}") for each in look.commands), _line("", effort))


def _line(mark: str, text: str) -> str:
    return f"{mark:>8}  {text}".rstrip()


def _bring_about(step: Step, folder: Path, *, yes: bool) -> None:
    """Run what a step needs, if it is not done.

    Raises:
        Failure: it cannot be done, or its commands fail.
        typer.Abort: it is not wanted.
    """
    look = _look_when_ended(step)
    if look.state is StepState.DONE:
        _say_step(step, look)
        return
    if look.state is not StepState.TO_DO:
        raise Failure(f"{step.title}: {look.state}", *look.says.splitlines())
    if look.price and not yes:
        _say_step(step, look)
        typer.confirm(_line("", "do it?"), abort=True, err=True)
    else:
        say(*(_line("", f"$ {each}") for each in look.commands))
    log, began = folder / f"{step.name}.log", monotonic()
    with _status(step.title) as show:
        for command in look.commands:
            run_command(command, log, show)
        look = _look(step)
    if look.state is not StepState.DONE:
        raise Failure(
            f"{step.title}: its commands ended well, and still it is {look.state}: {look.says}; "
            f"what they printed is in {log}"
        )
    say(_line(f"{monotonic() - began:.0f} s", f"{step.title}: {look.says}"))


@contextmanager
def _status(title: str) -> Iterator[Callable[[str], None]]:
    """Show how far a step is: in one line on a terminal, elsewhere in a line now and then."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(rich_line(title)) as status:

            def live(line: str) -> None:
                text = rich_line(f"{title}: {line}")
                # The spinner and a space stand before it; it forgets how its text should end.
                text.truncate(status.console.width - 2, overflow="ellipsis")
                status.update(text)

            yield live
        return
    shown = monotonic()

    def plain(line: str) -> None:
        nonlocal shown
        if monotonic() - shown >= _LINE_SECONDS:
            say(_line("", line), err=True)
            shown = monotonic()

    yield plain
