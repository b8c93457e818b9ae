"""The output of Habana's hccl_demo.

Format: HabanaAI/hccl_demo, hccl_demo.cpp: a block for one size, a report for a range of sizes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from trainshed.collectives.model import LogLine, Measurement, Operation, ToolOutput
from trainshed.collectives.table import TableRow, UnreadableLog, read_rows

_BLOCK = re.compile(r"\[BENCHMARK\] (\w+)\((.*)\)")
_BANDWIDTH = re.compile(r"\[BENCHMARK\]\s+(NW |Algo |)Bandwidth\s*:\s*([\d.]+) ([GM])B/s")
_REPORT = re.compile(r"\[(?:BANDWIDTH )?SUMMARY REPORT\]")
_COLLECTIVE = re.compile(r"\bcollective=(\w+)")
_UNIT = re.compile(r"\s(?:ms|us|GB/s)(?=\s|$)")
_GB = {"G": 1.0, "M": 1e-3}
_BYTES = {"float": 4, "fp32": 4, "bfloat16": 2, "bf16": 2}


def read_hccl_demo(lines: Sequence[LogLine]) -> ToolOutput | None:
    """Return what hccl_demo printed, or None when the log has no result of it.

    Raises:
        UnreadableLog: a result cannot be read.
    """
    for number, line in enumerate(lines):
        if _REPORT.search(line.text):
            found = _report(lines[number + 1 :])
            break
        if _BLOCK.search(line.text):
            found = _blocks(lines[number:])
            break
    else:
        return None
    wrong = next((line for line in lines if line.text.rstrip().endswith("which is bad.")), None)
    return replace(found, wrong=wrong, ranks=_ranks(found))


def _blocks(lines: Sequence[LogLine]) -> ToolOutput:
    figures, operation, truncated = [], None, None
    for number, line in enumerate(lines):
        if title := _BLOCK.search(line.text):
            operation = Operation.named(title[1])
            values = {
                match[1].strip(): float(match[2]) * _GB[match[3]]
                for following in lines[number + 1 : number + 3]
                if (match := _BANDWIDTH.search(following.text))
            }
            # Early versions print one bandwidth without a name: the one that is NW now.
            bus = values.get("NW", values.get(""))
            if bus is None:
                truncated = line
                continue
            facts = dict(fact.split("=") for fact in title[2].split(", ") if "!=" not in fact)
            figures.append(
                Measurement(
                    line=line.number,
                    size_bytes=_size(line, facts),
                    data_type=facts.get("dtype", ""),
                    time_us=None,
                    algorithm_gb_per_s=values.get("Algo"),
                    bus_gb_per_s=bus,
                )
            )
    return ToolOutput(measurements=tuple(figures), operation=operation, truncated=truncated)


def _size(line: LogLine, facts: dict[str, str]) -> int:
    try:
        return int(facts.get("data_size") or int(facts["count"]) * _BYTES[facts["dtype"]])
    except (KeyError, ValueError):
        raise UnreadableLog(f"{line}: does not say how large the message is") from None


def _report(lines: Sequence[LogLine]) -> ToolOutput:
    operation, headings, microseconds = None, list[str](), 1.0
    for number, line in enumerate(lines):
        words = line.text.split()
        if collective := _COLLECTIVE.search(line.text):
            operation = Operation.named(collective[1])
        elif words[:2] == ["size", "count"]:
            headings = [word.casefold().replace("algo_bw", "algobw") for word in words]
        elif headings and words[:1] == ["(B)"]:
            microseconds = 1e3 if "(ms)" in words else 1.0
        elif headings and words and words[0].isdigit():
            # Without a reduction its column is left out, or left empty.
            if operation is None or "reduce" not in operation:
                headings = [word for word in headings if word != "redop"]
            rows = [replace(row, text=_UNIT.sub(" ", row.text)) for row in lines[number:]]
            figures, truncated = read_rows(rows, headings, partial(_measure, microseconds))
            return ToolOutput(measurements=tuple(figures), operation=operation, truncated=truncated)
    return ToolOutput(measurements=(), operation=operation)


def _measure(microseconds: float, row: TableRow) -> Iterator[Measurement]:
    yield Measurement(
        line=row.line.number,
        size_bytes=int(row.number("size")),
        data_type=row.cells["type"],
        time_us=row.number("time") * microseconds,
        algorithm_gb_per_s=row.number("algobw"),
        bus_gb_per_s=row.number("nw_bw"),
    )


def _ranks(found: ToolOutput) -> int | None:
    """Return how many took part: for an all-reduce NW is Algo x 2 (ranks - 1) / ranks."""
    for figure in found.measurements:
        if found.operation is Operation.ALL_REDUCE and figure.algorithm_gb_per_s:
            factor = figure.bus_gb_per_s / figure.algorithm_gb_per_s
            return round(2 / (2 - factor)) if factor < 2 else None
    return None
