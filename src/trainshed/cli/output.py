"""What every command prints: a table for people, or the same records as JSON."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import typer

# Wide enough that each record of a piped table is one line.
_PIPE_WIDTH = 10_000
NO_HEADINGS: Final[Mapping[str, str]] = {}


def print_records(
    records: Sequence[Mapping[str, Any]],
    *,
    columns: Iterable[str],
    headings: Mapping[str, str] = NO_HEADINGS,
    as_json: bool = False,
    title: str | None = None,
) -> None:
    """Print records as a table, or as a JSON list.

    A table fits the terminal; what does not fit into its cell goes on in the next line. In a pipe
    each record is one line.

    Args:
        records: one mapping a row; JSON gets them whole.
        columns: keys of a record, in the order of the table.
        headings: by key, where the heading is not the key itself.
        as_json: print JSON; by default a table.
        title: above the table; by default none.
    """
    if as_json:
        print_json(list(records))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    columns = tuple(columns)
    for key in columns:
        table.add_column(headings.get(key, key.replace("_", " ")), overflow="fold")
    for record in records:
        table.add_row(*(Text(_cell(record.get(key))) for key in columns))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH).print(table)


def print_facts(facts: Mapping[str, Any], *, heading: str, values: str) -> None:
    """Print a table of facts.

    Args:
        facts: value by name.
        heading: over the names: what the facts are about.
        values: over the values.
    """
    records = [{"fact": name, "value": value} for name, value in facts.items()]
    headings = {"fact": heading, "value": values}
    print_records(records, columns=headings, headings=headings)


def print_json(value: object) -> None:
    """Print a value as JSON; dates and paths as text."""
    typer.echo(json.dumps(value, indent=2, default=str))


def rounded(value: object) -> object:
    """Return a value for JSON whose numbers have no more than six decimal places."""
    match value:
        case float():
            return round(value, 6)
        case Mapping():
            return {key: rounded(entry) for key, entry in value.items()}
        case list() | tuple():
            return [rounded(entry) for entry in value]
        case _:
            return value


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Iterable):
        return ", ".join(map(str, value))
    return str(value)
