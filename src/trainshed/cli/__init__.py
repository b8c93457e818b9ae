"""The command line: one module per command group, loaded only when its command is called.

A group is a module of this package with a `typer.Typer(add_completion=False)` called `app`, and a
line in `GROUPS`. An `app` of one command is that command.
"""

import importlib
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from trainshed import __version__
from trainshed.cli.output import say
from trainshed.errors import TrainshedError

GROUPS = {
    "init": "Write a small CDK project of your own.",
    "check": "Why AWS would refuse a cluster, or its jobs would hang: no account needed.",
    "lint": "Judge CloudFormation, eksctl and ParallelCluster files: no account needed.",
    "review": "What a change does, for its reviewer: risks, resources, permissions, cost.",
    "comment": "Post a review's report to the pull or merge request of this CI job.",
    "preflight": "Why your account would refuse a cluster: quotas, zones, AMI, image, network.",
    "cost": "What a cluster costs, per hour, per month and for one run.",
    "estimate": "How fast a training is, how long it takes and what it costs, as published.",
    "explain": "A cluster's interfaces, addresses and decisions, each with its reason.",
    "catalogue": "What AWS says of the instance types that train models.",
    "ami": "AMIs: bake, test, publish, roll back, remove.",
    "offline": "An AWS on this machine: no account, no network, no cost.",
    "rehearse": "A job of a cluster on this machine, before you pay for a node.",
    "job": "Jobs of a cluster: submit, watch, logs, cancel, why one fails; a shell on its nodes.",
    "bench": "Logs of collective benchmarks: read, judged, drawn.",
    "container": "Container images: built, compared with AMIs, pushed to a cluster's repository.",
    "upgrade": "What another version of trainshed would change in your project.",
    "teardown": "Delete a cluster's stacks. Data stays.",
}


class _LazyCommand(TyperCommand):
    """Stands for a group in the help, and is replaced by it when called."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        try:
            module = importlib.import_module(f"trainshed.cli.{self.name}")
        except ModuleNotFoundError as error:
            if (error.name or "trainshed").partition(".")[0] == "trainshed":
                raise
            raise TrainshedError(
                f"trainshed {self.name} needs the package {error.name}; "
                "install it, in your project or in the checkout: pip install -r requirements.txt"
            ) from error
        return typer.main.get_command(module.app).make_context(info_name, args, *rest, **extra)


def main() -> None:
    """Run the command line: exit 0 when clean, 1 on findings or a failure, 2 on wrong input."""
    # Closed, as some daemons leave it: then nothing reads the output, and that is not a failure.
    sys.stdout = sys.stdout or io.StringIO()
    try:
        code = _root().main(
            sys.argv[1:] or ["--help"], prog_name="trainshed", standalone_mode=False
        )
    except (TrainshedError, typer.TyperException, *_embedded_aws_errors()) as error:
        first, *rest = _lines(error)
        say(f"error: {first}", *rest, err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        say(f"error: {error.filename or 'output'}: {error.strerror}", err=True)
        # What is still to be written would fail again, with a traceback.
        sys.stdout = io.StringIO()
        sys.exit(1)
    except typer.Abort:
        sys.exit(1)
    sys.exit(code)


def _print_version(asked: bool) -> None:
    if asked:
        say(f"trainshed {__version__}")
        raise typer.Exit


def _root() -> TyperGroup:
    app = typer.Typer(
        help="Accelerator training clusters on AWS, proven offline before you pay for a node.",
        # What is called from here has them too.
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    root = typer.main.get_group(app)
    for name, text in GROUPS.items():
        root.add_command(_LazyCommand(name, help=text))
    return root


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def _embedded_aws_errors() -> Any:
    """Return what the embedded AWS raises on purpose, when a command has loaded it."""
    errors = sys.modules.get("embedded_aws.errors")
    return (errors.EmbeddedAwsError,) if errors else ()


def _lines(error: Exception) -> Sequence[str]:
    if isinstance(error, TrainshedError):
        return error.lines
    if not isinstance(error, typer.TyperException):
        return [str(error)]
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context else ""
    return [message[:1].lower() + message[1:] + hint]
