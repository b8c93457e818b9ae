"""Result tables: columns found by their headings, since versions and options add some."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainshed.collectives.model import LogLine, Measurement
from trainshed.errors import TrainshedError


class UnreadableLog(TrainshedError):
    """A log without a result table, or with a line in its table that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One line of a table.

    Attributes:
        line: the line.
        cells: texts by heading.
    """

    line: LogLine
    cells: Mapping[str, str]

    def number(self, heading: str) -> float:
        """Return the number in a column.

        Raises:
            UnreadableLog: it is none; the message quotes the line.
        """
        try:
            return float(self.cells[heading])
        except ValueError:
            raise UnreadableLog(
                f"{self.line}: {heading} {self.cells[heading]!r} is not a number"
            ) from None


def read_rows(
    lines: Sequence[LogLine],
    headings: Sequence[str],
    measure: Callable[[TableRow], Iterable[Measurement]],
) -> tuple[list[Measurement], LogLine | None]:
    """Return the figures of a table, and the row in whose middle the log ends, if it does.

    Args:
        lines: those after the headings. Rows begin with a message size; other lines among them, of
            the benchmark or of its libraries, are passed over.
        headings: one for each column.
        measure: makes the figures of a row.

    Raises:
        UnreadableLog: a row has another number of columns, and is not the end of the log.
    """
    figures: list[Measurement] = []
    for number, line in enumerate(lines):
        cells = line.text.split()
        if not cells or not cells[0].isdigit():
            continue
        if len(cells) != len(headings):
            if any(following.text.strip() for following in lines[number + 1 :]):
                raise UnreadableLog(
                    f"{line}: has {len(cells)} columns, and the table {len(headings)}: "
                    f"{' '.join(headings)}"
                )
            return figures, line
        figures += measure(TableRow(line=line, cells=dict(zip(headings, cells, strict=True))))
    return figures, None
