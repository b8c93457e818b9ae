"""What the commands print: a table for people, or the same records as JSON.

trainshed has a module like this one. Neither distribution may import the other for it: trainshed
runs without the embedded AWS, which knows nothing of trainshed.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

# Wide enough for each record of a piped table to be one line.
_PIPE_WIDTH = 10_000

# What terminals and CI systems obey; trainshed's module of the same purpose says who obeys what.
_CONTROL = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_COMMAND = re.compile(r"(?<!\S)(?=::[A-Za-z])|(?<=#)(?=#\w*\[)")

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
        table.add_row(*(Text(printable(_cell(record[key]))) for key in columns))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH).print(table)


def print_json(value: object) -> None:
    """Print a value as JSON; dates and paths become text."""
    # JSON escapes all but DEL, and lines begin with its own signs.
    text = json.dumps(value, indent=2, default=str).replace("\x7f", r"\u007f")
    typer.echo(text.replace("##", r"#\u0023"))


def print_error(text: str) -> None:
    """Print an error, which may have several lines."""
    for line in f"error: {text}".split("\n"):
        typer.echo(printable(line), err=True)


def printable(text: str) -> str:
    r"""Return text as one line: `\x1b` for the character ESC, `\n` for a line break."""
    line = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
    return _COMMAND.sub(r"\\", line)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
