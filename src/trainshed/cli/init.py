"""`trainshed init`: write a CDK project of the user's own."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from trainshed.catalogue import known_region, lookup
from trainshed.checks import judge
from trainshed.cli.options import region_option
from trainshed.cli.output import say
from trainshed.errors import TrainshedError, UnknownName
from trainshed.project.choices import ON_DEMAND, Choices, plan_choices
from trainshed.project.files import project_files
from trainshed.project.writing import ProjectExists, write_project
from trainshed.region import environment_region

app = typer.Typer(add_completion=False)

_NAME, _TYPE, _REGION = "TrainCluster", "trn1.32xlarge", "us-west-2"


@app.command()
def init(
    directory: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR",
            help="Folder of the project; made if it does not exist.",
            show_default="the working directory",
        ),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            help="EC2 instance type of the nodes, for instance trn1.32xlarge; with it, nothing is "
            "asked.",
            metavar="TYPE",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the cluster and its stack.", metavar="NAME")
    ] = _NAME,
    region: Annotated[str | None, region_option("AWS region.")] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            help="Largest number of nodes.",
            show_default="2; 1 for a type without EFA",
            metavar="NUMBER",
        ),
    ] = None,
    storage: Annotated[
        bool, typer.Option(help="A Lustre file system of 1200 GiB, which is billed by the hour.")
    ] = False,
    capacity: Annotated[
        str,
        typer.Option(
            help="on-demand, reservation=cr-... or capacity-block=cr-....", metavar="CAPACITY"
        ),
    ] = ON_DEMAND,
    with_packer: Annotated[
        bool,
        typer.Option(
            "--with-packer", help="Also copy packer/ and containers/, to change them there."
        ),
    ] = False,
) -> None:
    """Write a small CDK project: a cluster, an app, a test that deploys it on this machine.

    Without --type it asks, in a terminal only; the options are then the defaults of the questions.
    It never overwrites a file.
    """
    if directory == "":
        raise TrainshedError("DIR: it is empty; name a folder, or leave it out to use this one")
    if types and len(types) > 1:
        raise TrainshedError(
            f"--type: given {len(types)} times ({', '.join(types)}), but a cluster has one type; "
            "give it once, and write another file in clusters/ for another type"
        )
    instance_type = types[0] if types else None
    region = region or environment_region(os.environ)
    # None: closed, as some daemons leave it.
    if instance_type is None and not (sys.stdin and sys.stdin.isatty()):
        raise TrainshedError(
            "this is not a terminal, so nothing can be asked: give --type, for instance "
            "--type trn1.32xlarge (all: trainshed catalogue list)"
        )
    if instance_type is not None and region is None:
        raise TrainshedError(
            "--region: not given, and neither AWS_REGION nor the AWS profile names one; give it, "
            f"for instance --region {_REGION}"
        )
    choices = Choices(
        name=name,
        region=region or _REGION,
        instance_type=instance_type or _TYPE,
        nodes=nodes if nodes is not None else _nodes(instance_type or _TYPE),
        storage=storage,
        capacity=capacity,
    )
    if instance_type is None:
        directory = directory or _ask("folder of the project", ".", _require_no_project)
        choices = _ask_for_choices(choices)
    plan = plan_choices(choices)
    files = project_files(choices, plan)
    folder = Path(directory or "")
    write_project(folder, files, with_packer=with_packer)
    for finding in judge(plan):
        if finding.fails:
            say(str(finding), err=True)
    for path in files:
        say(str(folder / path))
    say(*_next_steps(folder), err=True)


def _ask(question: str, default: str, check: Callable[[str], object]) -> str:
    """Ask until the answer passes a check."""
    while True:
        answer: str = typer.prompt(question, default, err=True)
        try:
            check(answer)
        except TrainshedError as error:
            say(*error.lines, err=True)
        else:
            return answer


def _require_no_project(folder: str) -> None:
    if os.path.lexists(Path(folder) / "cdk.json"):
        raise ProjectExists(Path(folder), ["cdk.json"])


def _require_number(answer: str) -> None:
    if not (answer.isascii() and answer.isdecimal()):
        raise TrainshedError(
            f"{answer!r} is not a number of nodes; write it in digits, for instance 2"
        )


def _ask_for_choices(choices: Choices) -> Choices:
    """Ask until the cluster can be planned; each default is the choice before."""
    while True:
        instance_type = _ask("instance type", choices.instance_type, lookup)
        chosen = choices.nodes != _nodes(choices.instance_type)
        nodes = choices.nodes if chosen else _nodes(instance_type)
        choices = Choices(
            instance_type=instance_type,
            region=_ask("region", choices.region, known_region),
            name=typer.prompt("name of the cluster", choices.name, err=True),
            nodes=int(_ask("largest number of nodes", str(nodes), _require_number)),
            storage=typer.confirm("a Lustre file system of 1200 GiB?", choices.storage, err=True),
            capacity=typer.prompt("capacity", choices.capacity, err=True),
        )
        try:
            plan_choices(choices)
        except TrainshedError as error:
            say(*error.lines, "answer again; Enter keeps an answer", err=True)
        else:
            return choices


def _nodes(instance_type: str) -> int:
    """Return how many nodes are a small cluster: what has no EFA works best alone."""
    try:
        return 2 if lookup(instance_type).efa_interfaces_max else 1
    except UnknownName as error:
        raise TrainshedError(f"--type: {error}") from error


def _next_steps(directory: Path) -> list[str]:
    here = directory.resolve() == Path.cwd()
    # The folder's own environment runs this, so trainshed is in it.
    installed = Path(sys.prefix).is_relative_to(directory.resolve())
    install = [
        "python3 -m venv .venv && source .venv/bin/activate",
        "mkdir wheels && cp CHECKOUT/dist/*.whl wheels/      # as README.md says",
        "pip install --no-deps wheels/*.whl",
    ]
    steps = [
        *([] if here else [f"cd {shlex.quote(str(directory))}"]),
        *([] if installed else install),
        "pip install -r requirements.txt && npm ci",
        "pytest      # deploys the cluster to an AWS on this machine",
    ]
    return ["next:", *(f"  {step}" for step in steps)]
