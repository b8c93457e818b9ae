"""Options that many commands have."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from trainshed.errors import TrainshedError

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
PlainOption = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Run the command on every node as it stands, without trainshed-launch: for "
        "container images that lack it.",
    ),
]


def region_option(what: str, default: str = "AWS_REGION, or that of the profile") -> Any:
    """Return the option `--region`.

    Args:
        what: its help.
        default: what counts without it.
    """
    return typer.Option("--region", help=what, show_default=default, metavar="REGION")


CommandArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="COMMAND...",
        help="What trainshed-launch starts on the nodes: torchrun, mpirun, deepspeed or any.",
    ),
]
ReadyJobOption = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        help="Run a ready job instead of a command: trainshed job recipes lists them.",
        metavar="NAME",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Parameter of the ready job; may be repeated.",
        metavar="NAME=VALUE",
    ),
]


SendOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="File or folder of the working directory that goes with the job; the command finds "
        "it by the same path. May be repeated.",
        metavar="PATH",
    ),
]


class CommandAfterDashes(TyperCommand):
    """Requires a ready job or `--` before a command: click would take its options for ours."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a command without `--`, an empty or no program, and both a command and a job."""
        ours = args[: args.index("--")] if "--" in args else args
        asks_ready_job = any(word.partition("=")[0] == "--recipe" for word in ours)
        if "--" not in args and not asks_ready_job and not set(args) & {"-h", "--help"}:
            raise TrainshedError(
                f"put `--` before the command: {ctx.command_path} CLUSTER [OPTIONS] -- COMMAND..., "
                "or name a ready job with --recipe"
            )
        rest = super().parse_args(ctx, args)
        command, ready_job = ctx.params.get("command"), ctx.params.get("ready_job")
        if ready_job and command:
            raise TrainshedError(
                f"--recipe {ready_job} and the command {shlex.join(command)} exclude each other; "
                "leave one of them out"
            )
        if ready_job and ctx.params["plain"]:
            raise TrainshedError(
                f"--plain: ready job {ready_job} needs trainshed-launch; leave --plain out"
            )
        if ctx.params["send"] and ready_job:
            raise TrainshedError(f"--send: ready job {ready_job} has its own files; leave it out")
        if ctx.params["send"] and ctx.params["plain"]:
            raise TrainshedError(
                "--plain: the files of --send need trainshed-launch, which unpacks them; leave one "
                "of them out"
            )
        if ctx.params.get("values") and not ready_job:
            raise TrainshedError("--set sets a parameter of a ready job; name one with --recipe")
        if not ready_job and not command:
            raise TrainshedError("missing argument 'COMMAND...'; put it after --, or use --recipe")
        if command and command[0] == "":
            raise TrainshedError("the first word of the command is empty; name a program")
        return rest


def parameters(given: list[str] | None) -> dict[str, str]:
    """Read the values of `--set`.

    Raises:
        TrainshedError: one is not a pair of a name and a value.
    """
    pairs = [word.partition("=") for word in given or ()]
    for name, equals, value in pairs:
        if not (name and equals):
            raise TrainshedError(f"--set {name}{equals}{value}: write NAME=VALUE")
    return {name: value for name, _, value in pairs}
