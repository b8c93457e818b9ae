"""`trainshed init`: write a CDK project of the user's own."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from trainshed.catalogue import known_region, lookup
from trainshed.errors import TrainshedError, UnknownName
from trainshed.project.choices import ON_DEMAND, Choices, plan_choices
from trainshed.project.files import project_files
from trainshed.project.writing import write_project
from trainshed.region import environment_region

app = typer.Typer(add_completion=False)

_NAME, _TYPE, _REGION = "TrainCluster", "trn1.32xlarge", "us-west-2"


@app.command()
def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the project.", show_default="here")
    ] = Path(),
    instance_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            help="EC2 instance type of the nodes, for instance trn1.32xlarge; with it, nothing is "
            "asked.",
            show_default=False,
            metavar="TYPE",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the cluster and its stack.", metavar="NAME")
    ] = _NAME,
    region: Annotated[
        str | None,
        typer.Option(
            help="AWS region.",
            show_default="AWS_REGION, or that of the profile",
            metavar="REGION",
        ),
    ] = None,
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

    In a terminal it asks for what no option gave. It never overwrites a file.
    """
    region = region or environment_region(os.environ)
    if instance_type is None:
        if not sys.stdin.isatty():
            raise TrainshedError(
                "this is not a terminal, so nothing can be asked: give --type, for instance "
                "--type trn1.32xlarge (all: trainshed catalogue list)"
            )
        instance_type = _ask("instance type", _TYPE, lookup)
        region = _ask("region", region or _REGION, known_region)
        name = typer.prompt("name of the cluster", name, err=True)
        nodes = typer.prompt("largest number of nodes", nodes or _nodes(instance_type), err=True)
        storage = typer.confirm("a Lustre file system of 1200 GiB?", storage, err=True)
        capacity = typer.prompt("capacity", capacity, err=True)
    if region is None:
        raise TrainshedError("--region: there is none in the environment either; give it")
    choices = Choices(
        name=name,
        region=region,
        instance_type=instance_type,
        nodes=nodes if nodes is not None else _nodes(instance_type),
        storage=storage,
        capacity=capacity,
    )
    plan = plan_choices(choices)
    files = project_files(choices, plan)
    write_project(directory, files, with_packer=with_packer)
    for finding in plan.findings:
        typer.echo(str(finding), err=True)
    for path in files:
        typer.echo(str(directory / path))
    typer.echo(_next_steps(directory), err=True)


def _ask(what: str, default: str, check: Callable[[str], object]) -> str:
    """Ask until the answer passes a check."""
    while True:
        answer: str = typer.prompt(what, default, err=True)
        try:
            check(answer)
        except TrainshedError as error:
            typer.echo(str(error), err=True)
        else:
            return answer


def _nodes(instance_type: str) -> int:
    """Return how many nodes are a small cluster: what has no EFA works alone."""
    try:
        return 2 if lookup(instance_type).efa_interfaces_max else 1
    except UnknownName as error:
        raise TrainshedError(f"--type: {error}") from error


def _next_steps(directory: Path) -> str:
    here = directory.resolve() == Path.cwd()
    steps = [
        *([] if here else [f"cd {directory}"]),
        "python3 -m venv .venv && source .venv/bin/activate",
        "pip install --no-deps wheels/*.whl      # trainshed's own, see README.md",
        "pip install -r requirements.txt && npm ci",
        "pytest      # deploys the cluster to an AWS on this machine",
    ]
    return "\n".join(["next:", *(f"  {step}" for step in steps)])
