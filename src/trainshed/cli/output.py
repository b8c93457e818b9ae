"""What every command prints: lines and tables for people, or the same records as JSON.

All goes through here, because most of it has texts of others: names, tags, answers of AWS, logs.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import typer

from trainshed.printable import printable

# Wide enough that each record of a piped table is one line.
_PIPE_WIDTH = 10_000
NO_HEADINGS: Final[Mapping[str, str]] = {}


def say(*lines: str, err: bool = False) -> None:
    """Print lines; control characters in them, line breaks too, are escaped.

    Args:
        lines: one or more.
        err: print on stderr; by default on stdout.
    """
    for line in lines:
        typer.echo(printable(line), err=err)


def rich_line(text: str, **form: Any) -> Any:
    """Return a line for what rich draws, tables for instance: nothing in it is markup.

    Args:
        text: the line.
        form: of the line, as rich names it: `style`, `overflow`.
    """
    from rich.text import Text

    return Text(printable(text), **form)


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

    table = Table(title=title and rich_line(title), title_justify="left")
    columns = tuple(columns)
    for key in columns:
        heading = headings.get(key, key.replace("_", " "))
        table.add_column(rich_line(heading), overflow="fold")
    for record in records:
        table.add_row(*(rich_line(_cell(record.get(key))) for key in columns))
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
    # JSON escapes all but DEL, and lines begin with its own signs.
    text = json.dumps(value, indent=2, default=str).replace("\x7f", r"\u007f")
    typer.echo(text.replace("##", r"#\u0023"))


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
