"""The output of AWS Neuron's nccom-test.

Format: AWS Neuron documentation, "NCCOM-TEST User Guide".
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trainshed.collectives.model import LogLine, Measurement, Operation, ToolOutput
from trainshed.collectives.table import TableRow, read_rows

# It prints GB/s and means GiB/s: the guide's own sample has 33554432 bytes in 768 us as 40.69.
_GIB_IN_GB = 1.073741824
_COMMAND = re.compile(r"\bnccom-test\b(.*)")


def read_nccom_test(lines: Sequence[LogLine]) -> ToolOutput | None:
    """Return what nccom-test printed, or None when the log has no table of it."""
    start = next((number for number, line in enumerate(lines) if "busbw(GB/s)" in line.text), None)
    if start is None:
        return None
    headings = lines[start].text.split()
    figures, truncated = read_rows(lines[start + 1 :], headings, _measure)
    return ToolOutput(
        measurements=tuple(figures),
        operation=_operation(lines),
        ranks=_ranks(lines),
        truncated=truncated,
    )


def _measure(row: TableRow) -> Iterator[Measurement]:
    # `time(us)`; since 2025 `time:avg(us)`, or one column for each statistic that was asked for.
    time = next(heading for heading in row.cells if heading.startswith("time"))
    yield Measurement(
        line=row.line.number,
        size_bytes=int(row.number("size(B)")),
        data_type=row.cells["type"],
        time_us=row.number(time),
        algorithm_gb_per_s=row.number("algbw(GB/s)") * _GIB_IN_GB,
        bus_gb_per_s=row.number("busbw(GB/s)") * _GIB_IN_GB,
    )


def _operation(lines: Sequence[LogLine]) -> Operation | None:
    words = (word for words in _arguments(lines) for word in words)
    return next(filter(None, map(Operation.named, words)), None)


def _ranks(lines: Sequence[LogLine]) -> int | None:
    for words in _arguments(lines):
        for option, value in pairwise(words):
            if option in ("-r", "--nworkers") and value.isdigit():
                return int(value)
    return None


def _arguments(lines: Sequence[LogLine]) -> Iterator[list[str]]:
    """Yield the words after each command in the log; nccom-test itself does not repeat them."""
    for line in lines:
        if command := _COMMAND.search(line.text):
            yield command[1].split()
