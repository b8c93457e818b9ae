"""Options that many commands have."""

from typing import Annotated, Any

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def region_option(what: str, default: str = "AWS_REGION, or that of the profile") -> Any:
    """Return the option `--region`.

    Args:
        what: its help.
        default: what counts without it.
    """
    return typer.Option("--region", help=what, show_default=default, metavar="REGION")
