"""What the commands print: a table for people, or the same records as JSON.

trainshed has a module like this one. Neither distribution may import the other for it: trainshed
runs without the embedded AWS, which knows nothing of trainshed.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

# Wide enough for each record of a piped table to be one line.
_PIPE_WIDTH = 10_000

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def print_table(
    records: Sequence[Mapping[str, Any]], *, columns: Mapping[str, str], as_json: bool = False
) -> None:
    """Print records as a table, or as a JSON list.

    Args:
        records: one mapping for each row; JSON contains them whole.
        columns: heading by record key, in the order of the table.
        as_json: print JSON; by default a table.
    """
    if as_json:
        print_json(list(records))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in columns.values():
        table.add_column(heading, overflow="fold")
    for record in records:
        table.add_row(*(Text(_cell(record[key])) for key in columns))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH).print(table)


def print_json(value: object) -> None:
    """Print a value as JSON; dates and paths become text."""
    typer.echo(json.dumps(value, indent=2, default=str))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
