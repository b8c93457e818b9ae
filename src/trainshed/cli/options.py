"""Options that many commands have."""

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


class CommandAfterDashes(TyperCommand):
    """Requires `--` before a command of the user's, whose options would be taken for ours."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse arguments without `--`, and an empty program."""
        if "--" not in args and not set(args) & {"-h", "--help"}:
            raise TrainshedError(
                f"put `--` before the command: {ctx.command_path} CLUSTER [OPTIONS] -- COMMAND..."
            )
        rest = super().parse_args(ctx, args)
        if ctx.params.get("command", ("program",))[0] == "":
            raise TrainshedError("the first word of the command is empty; name a program")
        return rest
