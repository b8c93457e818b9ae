"""`trainshed offline`: bring the embedded AWS up and down, look at it, run commands against it."""

import os
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import boto3
import typer
from typer.core import TyperCommand

from trainshed.catalogue.account import asking
from trainshed.cli.offline_options import (
    AccountOption,
    AsOfOption,
    AuthorityOption,
    GuestsOption,
    HostsOption,
    PortOption,
    RegionOption,
    RegistryOption,
    settings_of,
)
from trainshed.cli.output import JsonOption, print_facts, print_json, print_records
from trainshed.errors import TrainshedError
from trainshed.offline.client import client_of
from trainshed.offline.guests.settings import default_roots
from trainshed.offline.inventory import inventory as exists
from trainshed.offline.lifecycle import Project, Running
from trainshed.offline.process import ServerError
from trainshed.offline.run import run as run_command
from trainshed.offline.stand_in import add_stand_in

app = typer.Typer(add_completion=False)
guests_app = typer.Typer(help="Real guests as EC2's instances.", no_args_is_help=True)
app.add_typer(guests_app, name="guests")


@app.command()
def up(
    port: PortOption = 0,
    account: AccountOption = None,
    region: RegionOption = None,
    as_of: AsOfOption = None,
    registry: RegistryOption = None,
    guests: GuestsOption = False,
    guest_hosts: HostsOption = None,
    certificate_authority: AuthorityOption = None,
) -> None:
    """Start the embedded AWS of this directory; when it runs already, say so."""
    settings = settings_of(
        port=port,
        accounts=account,
        regions=region,
        as_of=as_of,
        registry=registry,
        guests=guests,
        guest_hosts=guest_hosts,
        certificate_authority=certificate_authority,
    )
    running, new = _project().up(settings)
    state = "is up" if new else "is up already"
    typer.echo(f"the embedded AWS {state} at {running.endpoint} (process {running.pid})")
    typer.echo('use it: eval "$(trainshed offline env)"')


@app.command()
def down() -> None:
    """End the embedded AWS of this directory, and forget all that was deployed to it."""
    project = _project()
    remembered = project.remembered()
    if ended := project.down():
        typer.echo(f"the embedded AWS at {ended.endpoint} is down")
    elif remembered:
        typer.echo(
            f"the embedded AWS had ended by itself (process {remembered.pid}); "
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
            "endpoint": remembered.endpoint,
            "accounts": remembered.settings.accounts,
            "regions": remembered.settings.regions,
            "as_of": remembered.settings.as_of,
            "registry": remembered.settings.registry,
            "guests": remembered.settings.guests is not None,
            "pid": remembered.pid,
            "log": remembered.log,
        }
    if as_json:
        print_json(record)
    else:
        print_facts(record, heading="", values="embedded AWS")
    if not running:
        raise typer.Exit(1)


@app.command()
def env(as_json: JsonOption = False) -> None:
    """Print the lines that lead a shell's AWS tools to the embedded AWS, to be evaluated."""
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
        rows = exists(_client())
    print_records(rows, columns={"kind": "what", "name": "name", "facts": "facts"}, as_json=as_json)


@app.command()
def ami(
    accelerator: Annotated[str, typer.Argument(help="habana, neuron or nvidia.")],
    orchestrator: Annotated[str, typer.Argument(help="ec2, ecs or eks.")],
) -> None:
    """Add an AMI to the embedded AWS that looks like a build's, and print its id.

    Nothing is baked into it. `trainshed ami publish` takes it as it takes a real one.
    """
    with asking():
        typer.echo(add_stand_in(_client(), accelerator, orchestrator))


@app.command()
def types(as_json: JsonOption = False) -> None:
    """List the CloudFormation resource types that the embedded AWS can make."""
    # Loads all of moto's models.
    from trainshed.offline.supported import all_supported

    records = [{"type": entry.name, "made_by": entry.made_by} for entry in all_supported()]
    print_records(records, columns={"type": "type", "made_by": "made by"}, as_json=as_json)


@guests_app.command("prepare")
def prepare_guests() -> None:
    """Make the roots that guests boot, once; again when trainshed's recipe has changed."""
    # Its hash reads the whole recipe.
    from trainshed.offline.guests.prepare import prepare

    roots = default_roots()
    new = prepare(roots, typer.echo)
    typer.echo(f"the guests' roots are {'ready' if new else 'ready already'} in {roots}")


class _RunCommand(TyperCommand):
    """Takes nothing for its command that does not stand after `--`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" not in args and not set(args) & set(ctx.help_option_names):
            raise TrainshedError(
                "put `--` before the command: trainshed offline run [OPTIONS] -- COMMAND..."
            )
        return super().parse_args(ctx, args)


@app.command(cls=_RunCommand)
def run(
    command: Annotated[
        list[str], typer.Argument(help="After `--`: the program and its arguments.")
    ],
    port: PortOption = 0,
    account: AccountOption = None,
    region: RegionOption = None,
    as_of: AsOfOption = None,
    registry: RegistryOption = None,
    guests: GuestsOption = False,
    guest_hosts: HostsOption = None,
    certificate_authority: AuthorityOption = None,
) -> None:
    """Start an embedded AWS of its own, run a command against it, end it.

    The exit code is the command's:
    `trainshed offline run -- npx cdk deploy --require-approval never`.
    """
    settings = settings_of(
        port=port,
        accounts=account,
        regions=region,
        as_of=as_of,
        registry=registry,
        guests=guests,
        guest_hosts=guest_hosts,
        certificate_authority=certificate_authority,
    )
    code, log = run_command(command, settings, state=_project().state)
    if code:
        typer.echo(f"the log of the embedded AWS is {log}", err=True)
    raise typer.Exit(code)


def _client() -> Callable[[str], Any]:
    """Return what gives boto3 clients; never one that the user's own credentials lead to AWS."""
    if os.environ.get("AWS_ENDPOINT_URL"):
        return partial(boto3.client)
    running = _running(_project())
    return partial(client_of, running.settings, running.endpoint)


def _running(project: Project) -> Running:
    running = project.running()
    if not running:
        raise ServerError(
            "no embedded AWS is running in this directory; start it: trainshed offline up"
        )
    return running


def _project() -> Project:
    return Project(Path.cwd())
