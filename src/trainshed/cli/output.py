"""What every command prints: lines and tables for people, or the same records as JSON.

All goes through here, because most of it has texts of others: names, tags, answers of AWS, logs.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from trainshed.printable import printable

# Wide enough that each record of a piped table is one line.
_PIPE_WIDTH = 10_000
_LONG_WORD = 24
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

    A table fits the terminal, and breaks no word: what does not fit into its cell goes on in the
    next line, and where even the words do not fit, each cell is a line. In a pipe each record is
    one line.

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

    columns = tuple(columns)
    names = [headings.get(key, key.replace("_", " ")) for key in columns]
    rows = [[printable(_cell(record.get(key))) for key in columns] for record in records]
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    # A cell has a space on each side and a line after it, and the table one line more.
    widths = column_widths([names, *rows], console.width - 3 * len(names) - 1)
    if widths:
        console.print(_table(names, rows, widths, title))
    else:
        say(*([title] if title else []), *_blocks(names, rows))


def column_widths(rows: Sequence[Sequence[str]], available: int) -> list[int] | None:
    """Return how wide each column may be without breaking words; None when all cannot be.

    Words longer than most, such as addresses, may be broken.

    Args:
        rows: the cells, of the heading too.
        available: characters for all columns.
    """
    columns = list(zip(*rows, strict=True))
    words = [
        max(min(len(word), _LONG_WORD) for cell in cells for word in (cell.split() or [""]))
        for cells in columns
    ]
    whole = [max(map(len, cells)) for cells in columns]
    spare, wanted = available - sum(words), sum(whole) - sum(words)
    if spare < 0:
        return None
    if wanted <= spare:
        return whole
    return [word + spare * (full - word) // wanted for word, full in zip(words, whole, strict=True)]


def _table(
    names: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], title: str | None
) -> Any:
    from rich.table import Table

    table = Table(title=title and rich_line(title), title_justify="left")
    for name, width in zip(names, widths, strict=True):
        table.add_column(rich_line(name), overflow="fold", width=width)
    for row in rows:
        table.add_row(*map(rich_line, row))
    return table


def _blocks(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each cell, in place of a table that would break words."""
    for first, *others in rows:
        yield f"{names[0]}: {first}"
        yield from (
            f"  {name}: {cell}" for name, cell in zip(names[1:], others, strict=True) if cell
        )


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
