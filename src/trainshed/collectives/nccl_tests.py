"""The output of nccl-tests, of all versions since 2019.

Format: NVIDIA/nccl-tests, src/common.cu and src/util.cu.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count

from trainshed.collectives.model import LogLine, Measurement, Operation, ToolOutput
from trainshed.collectives.table import TableRow, read_rows

_RANK = re.compile(r"#\s+Rank\s+(\d+)\s.*\bPid\s+\d+ on\s+(\S+)\s+device")
_PROGRAM = re.compile(r"\b(\w+_perf)\b")
_OUT_OF_BOUNDS = re.compile(r"# Out of bounds values\s*:\s*(\d+)\b")


def read_nccl_tests(lines: Sequence[LogLine]) -> ToolOutput | None:
    """Return what nccl-tests printed, or None when the log has no table of it."""
    start = next((number for number, line in enumerate(lines) if _is_heading(line)), None)
    if start is None:
        return None
    headings = _headings(lines[start])
    figures, truncated = read_rows(lines[start + 1 :], headings, _measure)
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
    words = line.text.lstrip("# ").split()
    return words[:3] == ["size", "count", "type"] and "busbw" in words


def _headings(line: LogLine) -> list[str]:
    """Return the headings; those of the second half, in place, end with 2."""
    seen: dict[str, count[int]] = {}
    numbered = []
    for word in line.text.lstrip("# ").split():
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
