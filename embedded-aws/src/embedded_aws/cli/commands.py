"""The commands: start and stop the embedded AWS, show it, run commands against it."""

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError
from typer.core import TyperCommand

from embedded_aws.cli.options import takes_settings
from embedded_aws.cli.output import JsonOption, print_json, print_table
from embedded_aws.controls import CONTROLS, Controls
from embedded_aws.errors import EmbeddedAwsError, ServerError, program
from embedded_aws.inventory import inventory as exists
from embedded_aws.lifecycle import Project, Running
from embedded_aws.role_use import read_role_uses
from embedded_aws.run import run as run_command
from embedded_aws.service_folders import service_modules
from embedded_aws.settings import ServerSettings

app = typer.Typer(
    help="An AWS on this machine: no account, no network, no cost.",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _module in service_modules("subcommands"):
    app.add_typer(_module.app, name=_module.__name__.split(".")[-2])


@app.command()
@takes_settings
def up(settings: ServerSettings) -> None:
    """Start the embedded AWS of this directory, unless it is running."""
    running, new = _project().up(settings)
    state = "is up" if new else "is up already"
    typer.echo(f"the embedded AWS {state} at {running.settings.endpoint} (process {running.pid})")
    typer.echo(f'use it: eval "$({program.get()} env)"')


@app.command()
def down() -> None:
    """Stop the embedded AWS of this directory; everything deployed to it is gone."""
    project = _project()
    remembered = project.remembered()
    if ended := project.down():
        typer.echo(f"the embedded AWS at {ended.settings.endpoint} is down")
    elif remembered:
        typer.echo(
            f"the embedded AWS had already ended (process {remembered.pid}); "
            f"its log is {remembered.log}"
        )
    else:
        typer.echo("no embedded AWS was up in this directory")


@app.command()
def status(as_json: JsonOption = False) -> None:
    """Show the embedded AWS of this directory; exit with 1 when none is running."""
    project = _project()
    remembered = project.remembered()
    running = project.running()
    record: dict[str, Any] = {"state": "running" if running else "down"}
    if remembered:
        record |= {
            "state": "running" if running else "crashed",
            "endpoint": remembered.settings.endpoint,
            "accounts": remembered.settings.accounts,
            "regions": remembered.settings.regions,
            "as_of": remembered.settings.as_of,
            "registry": remembered.settings.registry,
            "guests": remembered.settings.machines is not None,
            "pid": remembered.pid,
            "log": remembered.log,
        }
    if as_json:
        print_json(record)
    else:
        facts = [{"fact": name, "value": value} for name, value in record.items()]
        print_table(facts, columns={"fact": "", "value": "embedded AWS"})
    if not running:
        raise typer.Exit(1)


@app.command()
def env(as_json: JsonOption = False) -> None:
    """Print shell lines that point AWS tools at the embedded AWS, for `eval`."""
    project = _project()
    changes = project.environment(_running(project))
    if as_json:
        print_json(changes)
        return
    for name, value in changes.items():
        line = f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"
        typer.echo(line)


@app.command()
def inventory(as_json: JsonOption = False) -> None:
    """Show what exists in the embedded AWS: the environment's, or else this directory's."""
    with asking():
        rows = exists(connect())
    print_table(rows, columns={"kind": "what", "name": "name", "facts": "facts"}, as_json=as_json)


@app.command()
def roles(
    name: Annotated[str, typer.Argument(help="Part of the roles' names; by default all.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show which granted actions each role used, which it never used, and what was denied."""
    controls = _controls_of_environment() or _running(_project()).settings.controls
    with _controlling():
        rows = [asdict(row) for row in read_role_uses(controls, name)]
    columns = ("role", "grant", "action", "used", "denied", "resource")
    print_table(rows, columns={column: column for column in columns}, as_json=as_json)


@app.command()
def control(
    name: Annotated[
        str,
        typer.Argument(
            help="capacity-blocks, clock, faults, quotas, spot-notices, spot-prices, storage or "
            "reset."
        ),
    ],
    value: Annotated[str, typer.Argument(help="What it takes, as JSON.")] = "{}",
) -> None:
    """Post to a control of the embedded AWS: time, faults, quotas, Spot, storage, a reset."""
    controls = _controls_of_environment() or _running(_project()).settings.controls
    with _controlling():
        controls.ask("POST", f"{CONTROLS}{name}", value.encode())


@app.command()
def types(as_json: JsonOption = False) -> None:
    """List the CloudFormation resource types that the embedded AWS can make."""
    # Loads all of moto's models.
    from embedded_aws.supported import all_supported

    records = [{"type": name, "made_by": maker} for name, maker in all_supported().items()]
    print_table(records, columns={"type": "type", "made_by": "made by"}, as_json=as_json)


class _RunCommand(TyperCommand):
    """Requires `--` before the command to run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" not in args and not set(args) & set(ctx.help_option_names):
            raise EmbeddedAwsError(
                f"put `--` before the command: {program.get()} run [OPTIONS] -- COMMAND..."
            )
        return super().parse_args(ctx, args)


@app.command(cls=_RunCommand)
@takes_settings
def run(
    settings: ServerSettings,
    command: Annotated[
        list[str], typer.Argument(help="After `--`: the program and its arguments.")
    ],
) -> None:
    """Start an embedded AWS, run a command against it, stop it.

    The exit code is the command's:
    `embedded-aws run -- npx cdk deploy --require-approval never`.
    """
    code, log = run_command(command, settings, state=_project().state)
    if code:
        typer.echo(f"the log of the embedded AWS is {log}", err=True)
    raise typer.Exit(code)


def connect(region: str | None = None) -> Callable[[str], Any]:
    """Return what makes boto3 clients of the environment's or else this directory's embedded AWS.

    It never uses the user's own credentials.

    Args:
        region: the clients' region; by default the environment's or the embedded AWS's first one.
    """
    if controls := _controls_of_environment():
        # Also when another variable has boto3 ignore this one.
        return partial(boto3.client, endpoint_url=controls.endpoint, region_name=region)
    return partial(_running(_project()).settings.client, region=region)


@contextmanager
def asking() -> Iterator[None]:
    """Turn boto3's errors into EmbeddedAwsError.

    Raises:
        EmbeddedAwsError: a call was refused, or the server does not answer.
    """
    try:
        yield
    except ClientError as error:
        raise ServerError(f"the embedded AWS refused the call: {error}") from error
    except BotoCoreError as error:
        raise ServerError(f"the embedded AWS does not answer: {error}") from error


@contextmanager
def _controlling() -> Iterator[None]:
    """Turn what a control refuses into EmbeddedAwsError."""
    try:
        yield
    except HTTPError as error:
        raise EmbeddedAwsError(error.read().decode().strip()) from error


def _controls_of_environment() -> Controls | None:
    """Return the controls of the environment's embedded AWS; None when it leads to none.

    Raises:
        ServerError: what it leads to is no embedded AWS, or takes other credentials.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        return None
    _check_url(endpoint)
    controls = Controls(
        endpoint=endpoint,
        key=os.environ.get("AWS_ACCESS_KEY_ID", ""),
        secret=os.environ.get("AWS_SECRET_ACCESS_KEY", ""),
        token=os.environ.get("AWS_SESSION_TOKEN", ""),
    )
    controls.check()
    return controls


def _check_url(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        # Reading the port checks it.
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or not endpoint.isprintable() or " " in endpoint:
        raise EmbeddedAwsError(
            f"AWS_ENDPOINT_URL is {endpoint!r}, which is no URL of an AWS; unset it, or set it to "
            "one such as http://localhost:4566"
        )


def _running(project: Project) -> Running:
    running = project.running()
    if not running:
        raise ServerError(
            f"no embedded AWS is running in this directory; start it: {program.get()} up"
        )
    return running


def _project() -> Project:
    return Project(Path.cwd())
