"""Run the command line: parse, call the command, print its error, give its exit code."""

import importlib
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from trainshed import __version__
from trainshed.cli import GROUPS
from trainshed.cli.output import say
from trainshed.errors import TrainshedError


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
                "install it: pip install -r requirements.txt in your project, make setup in a "
                "checkout"
            ) from error
        return typer.main.get_command(module.app).make_context(info_name, args, *rest, **extra)


def run() -> int:
    """Run the command that the arguments name; return its exit code."""
    # Closed, as some daemons leave it: then nothing reads the output, and that is not a failure.
    sys.stdout = sys.stdout or io.StringIO()
    code: int | None = 1
    try:
        code = _root().main(
            sys.argv[1:] or ["--help"], prog_name="trainshed", standalone_mode=False
        )
    except (TrainshedError, typer.TyperException, *_embedded_aws_errors()) as error:
        first, *rest = _lines(error)
        say(f"error: {first}", *rest, err=True)
        code = error.exit_code
    except OSError as error:
        say(f"error: {error.filename or 'output'}: {error.strerror}", err=True)
        # What is still to be written would fail again, with a traceback.
        sys.stdout = io.StringIO()
    except typer.Abort:
        pass
    return code or 0


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
    if isinstance(error, typer.BadParameter) and error.__cause__:
        error.message = _plainly(error.__cause__) or error.message
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context else ""
    return [message[:1].lower() + message[1:] + hint]


def _plainly(cause: BaseException) -> str | None:
    """Say in plain words what pydantic, which typer asks, finds wrong with a value."""
    # Only needed when something is wrong.
    from pydantic import ValidationError

    from trainshed.documents.messages import value_message

    return value_message(cause) if isinstance(cause, ValidationError) else None
