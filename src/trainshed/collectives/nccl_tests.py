"""The output of nccl-tests, of all versions since 2019.

Format: NVIDIA/nccl-tests, src/common.cu and src/util.cu.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from trainshed.collectives.model import LogLine, Measurement, Operation, ToolOutput
from trainshed.collectives.table import TableRow, UnreadableLog, read_rows

# A row, behind whatever a launcher or a log reader wrote before it: size, count and type.
_ROW = re.compile(
    r"(?<!\S)\d+\s+\d+\s+(?:u?int(?:8|32|64)|half|float|double|bfloat16|f8e\dm\d|fp8_e\dm\d)(?:\s|$)"
)
_HEADING = re.compile(r"(?<!\S)size\s+count\s+type\s")
_HALF = ("time", "algbw", "busbw", "#wrong")
_AVERAGE = re.compile(r"# Avg bus bandwidth")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s.*\bPid\s+\d+ on\s+(\S+)\s+device")
_PROGRAM = re.compile(r"\b(\w+_perf)\b")
_OUT_OF_BOUNDS = re.compile(r"# Out of bounds values\s*:\s*(\d+)\b")


def read_nccl_tests(lines: Sequence[LogLine]) -> ToolOutput | None:
    """Return what nccl-tests printed, or None when the log has no table of it."""
    start = next((number for number, line in enumerate(lines) if _is_heading(line)), None)
    if start is None:
        return None
    return _output(lines, lines[start + 1 :], _headings(lines[start]))


def read_rows_of_nccl_tests(lines: Sequence[LogLine]) -> ToolOutput | None:
    """Return the same of a table that was pasted without its headings; None without rows.

    Raises:
        UnreadableLog: the rows do not have the usual columns, or only their average is there.
    """
    headings = _usual_headings(lines)
    if headings:
        return _output(lines, lines, headings)
    average = next((line for line in lines if _AVERAGE.search(line.text)), None)
    if average:
        raise UnreadableLog(
            f"{average}: the table that this is the average of is missing; give its rows, too, one "
            "for each message size"
        )
    return None


def _output(
    lines: Sequence[LogLine], table: Sequence[LogLine], headings: Sequence[str]
) -> ToolOutput:
    figures, truncated = read_rows(_rows(table), headings, _measure)
    hosts = {int(match[1]): match[2] for line in lines if (match := _RANK.search(line.text))}
    return ToolOutput(
        measurements=tuple(figures),
        operation=_operation(lines),
        ranks=len(hosts) or None,
        hosts=tuple(dict.fromkeys(hosts[rank] for rank in sorted(hosts))),
        wrong=next(filter(_is_wrong, lines), None),
        truncated=truncated,
    )


def _is_heading(line: LogLine) -> bool:
    return _HEADING.search(line.text) is not None and "busbw" in line.text.split()


def _rows(lines: Sequence[LogLine]) -> list[LogLine]:
    """Return the rows of the table, each from its message size on, and the last line as it is."""
    last = max((number for number, line in enumerate(lines) if line.text.strip()), default=0)
    found = []
    for number, line in enumerate(lines):
        if row := _ROW.search(line.text):
            found.append(replace(line, text=line.text[row.start() :]))
        elif number == last:
            found.append(line)
    return found


def _usual_headings(lines: Sequence[LogLine]) -> list[str] | None:
    """Return the headings of a table that was pasted without them, by the length of its rows.

    The last eight columns have been the same since 2019; those after the type name the operation's
    reduction and its root, or are not there.
    """
    rows = _rows(lines)
    if not rows or not _ROW.match(rows[0].text):
        return None
    named = len(rows[0].text.split()) - 2 * len(_HALF)
    if not 3 <= named <= 5:
        raise UnreadableLog(
            f"{rows[0]}: the line with the names of the columns is missing, and these are not the "
            "usual ones; give the line that begins with # size"
        )
    second = (f"{name}2" for name in _HALF)
    return [*("size", "count", "type", "redop", "root")[:named], *_HALF, *second]


def _headings(line: LogLine) -> list[str]:
    """Return the headings; those of the second half, in place, end with 2."""
    seen: dict[str, count[int]] = {}
    numbered = []
    heading = _HEADING.search(line.text)
    assert heading
    for word in line.text[heading.start() :].split():
        number = next(seen.setdefault(word, count(1)))
        numbered.append(word if number == 1 else f"{word}{number}")
    return numbered


def _measure(row: TableRow) -> Iterator[Measurement]:
    for half in ("", "2"):
        if f"busbw{half}" in row.cells:
            yield Measurement(
                line=row.line.number,
                size_bytes=int(row.number("size")),
                data_type=row.cells["type"],
                in_place=bool(half),
                time_us=row.number(f"time{half}"),
                algorithm_gb_per_s=row.number(f"algbw{half}"),
                bus_gb_per_s=row.number(f"busbw{half}"),
            )


def _operation(lines: Sequence[LogLine]) -> Operation | None:
    """Return the operation, from the line that names it or from the command that was run."""
    names = (name for line in lines for name in _PROGRAM.findall(line.text))
    return next(filter(None, map(Operation.named, names)), None)


def _is_wrong(line: LogLine) -> bool:
    bounds = _OUT_OF_BOUNDS.search(line.text)
    return bounds is not None and bounds[1] != "0"
