"""Show the steps of a cluster, and bring them about: for commands that change what is deployed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import typer

from trainshed.app.synthesis import read_app
from trainshed.aws import BadCredentials, Region
from trainshed.cli.cluster import ALL_CLUSTERS, cluster_words, load_cluster
from trainshed.cli.output import rich_line, say
from trainshed.errors import Failure, TrainshedError
from trainshed.explain import is_path
from trainshed.plan import ClusterPlan
from trainshed.up import Look, Site, Step, StepState, require_npx, run_command

# Where nodes come for jobs, so many are checked.
_NODES = 2
# Between two looks at what AWS is at work on.
_LOOK_SECONDS = 10
# Of a log, for which a line for each event is too much.
_LINE_SECONDS = 30


def check_start(*, plan_only: bool, yes: bool, as_json: bool) -> None:
    """Refuse, before AWS is asked for anything, what could not go on later.

    Args:
        plan_only: nothing is to be changed.
        yes: nobody is to be asked.
        as_json: what is found is to be printed as JSON.

    Raises:
        TrainshedError: a run as JSON; nobody can be asked; there is no CDK app here.
        Failure: there is no npx.
    """
    if as_json and not plan_only:
        raise TrainshedError("--json is for --plan: a run prints its steps as they end")
    if not (plan_only or yes or sys.stdin.isatty()):
        raise TrainshedError(
            "this is not a terminal, so nothing can be asked: add --yes, or --plan to look only"
        )
    read_app(Path())
    if not plan_only:
        require_npx()


def find_site(
    plan: ClusterPlan,
    cluster: str,
    clusters: str,
    region: str | None,
    *,
    nodes: int | None = None,
    given_ami: str | None = None,
) -> Site:
    """Return where a cluster goes.

    Args:
        plan: the cluster.
        cluster: its name or file, as typed.
        clusters: the option of that name.
        region: the option of that name.
        nodes: of the first job; None for the default.
        given_ami: id of an AMI to publish.
    """
    return Site(
        load=lambda: load_cluster(cluster, clusters, region),
        words=cluster_words(cluster, clusters, region),
        files=_files(plan.where.file, cluster, clusters),
        region=Region(plan.region),
        nodes=nodes or max(plan.nodes.min, min(_NODES, plan.nodes.max)),
        given_ami=given_ami,
    )


def _files(file: str, cluster: str, clusters: str) -> str | None:
    """Return what the app is given by `-c clusters=`; None where it finds the file by itself."""
    if clusters != ALL_CLUSTERS:
        return clusters
    # Alone, it would take what it shares with others from them.
    found = {each.resolve() for each in Path().glob(ALL_CLUSTERS)}
    return file if is_path(cluster) and Path(file).resolve() not in found else None


def look_at(step: Step) -> Look:
    """Ask how far a step has come; one that cannot be asked is blocked.

    Raises:
        BadCredentials: no step can be asked.
    """
    try:
        return step.look()
    except BadCredentials:
        raise
    except TrainshedError as error:
        return Look(state=StepState.BLOCKED, says=str(error))


def look_when_ended(step: Step) -> Look:
    """Ask how far a step has come, and wait until AWS has done what it was asked before."""
    look = look_at(step)
    if look.state is not StepState.AT_WORK:
        return look
    say_step(step, look)
    with _status(step.title) as show:
        while look.state is StepState.AT_WORK:
            show(look.says)
            sleep(_LOOK_SECONDS)
            look = look_at(step)
    return look


def say_step(step: Step, look: Look) -> None:
    """Print how far a step has come, and its commands with what they take."""
    first, *rest = look.says.splitlines()
    say(_line(look.state, f"{step.title}: {first}"), *(_line("", each) for each in rest))
    if look.commands:
        minutes = f"about {look.minutes} min" if look.minutes else "less than a minute"
        effort = f"on AWS {minutes}{f', {look.price}' if look.price else ''}"
        say(*(_line("", f"$ {each}") for each in look.commands), _line("", effort))


def _line(mark: str, text: str) -> str:
    return f"{mark:>8}  {text}".rstrip()


def bring_about(step: Step, folder: Path, *, yes: bool) -> None:
    """Run what a step needs, if it is not done.

    Raises:
        Failure: it cannot be done, or its commands fail.
        typer.Abort: it is not wanted.
    """
    look = look_when_ended(step)
    if look.state is StepState.DONE:
        say_step(step, look)
        return
    if look.state is not StepState.TO_DO:
        raise Failure(f"{step.title}: {look.state}", *look.says.splitlines())
    if look.price and not yes:
        say_step(step, look)
        typer.confirm(_line("", "do it?"), abort=True, err=True)
    else:
        say(*(_line("", f"$ {each}") for each in look.commands))
    log, began = folder / f"{step.name}.log", monotonic()
    with _status(step.title) as show:
        for command in look.commands:
            run_command(command, log, show)
        look = look_at(step)
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
