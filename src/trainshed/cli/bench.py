"""`trainshed bench`: read the logs of collective benchmarks, and judge them."""

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.catalogue import lookup
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.plots import drawing
from trainshed.collectives import (
    BenchmarkRun,
    Cluster,
    Operation,
    judge,
    network_use,
    read_benchmark,
    slow_nodes,
)
from trainshed.errors import TrainshedError, UnknownName
from trainshed.files import LARGEST_MADE, read_bytes

app = typer.Typer(add_completion=False)

FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Log of hccl_demo, nccom-test or nccl-tests; - reads standard input.",
    ),
]

_HEADINGS = {
    "source": "log",
    "operation": "operation",
    "size_bytes": "bytes",
    "data_type": "type",
    "in_place": "in place",
    "time_us": "us",
    "algorithm_gb_per_s": "algorithm GB/s",
    "bus_gb_per_s": "bus GB/s",
}


@app.command()
def parse(files: FilesArgument, as_json: JsonOption = False) -> None:
    """Print the results in a log as one table, whichever tool wrote it.

    Exits with 1 when the log says that something failed or was wrong, with 2 when it has no result.
    """
    runs = [_read(file) for file in files]
    if as_json:
        print_json([asdict(run) for run in runs])
    else:
        rows = [row for run in runs for row in _rows(run)]
        print_records(rows, columns=_HEADINGS, headings=_HEADINGS)
    bad = False
    for run in runs:
        for line in filter(None, (run.wrong, *run.failures, run.truncated)):
            say(f"{run.source}: {line}", err=True)
            bad = True
    raise typer.Exit(bad)


@app.command(name="judge")
def judge_command(
    files: FilesArgument,
    instance_type: Annotated[
        str,
        typer.Option("--type", metavar="TYPE", help="EC2 instance type of the nodes."),
    ],
    nodes: Annotated[int, typer.Option(min=1, help="How many nodes ran it.", metavar="NODES")],
    operation: Annotated[
        str | None,
        typer.Option(
            help="Operation of a log that does not name it, for instance all_reduce.",
            metavar="OPERATION",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Also draw bandwidth over message size into this .png or .svg file.",
            metavar="FILE",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a run by what is published or possible for its nodes.

    With three logs or more, of the same benchmark on other nodes, it also names the slow ones.

    Exits with 1 when something is wrong or could not be judged, with 2 when a log has no result.
    """
    cluster = Cluster(instance=lookup(instance_type), nodes=nodes)
    runs = [_of_operation(_read(file), operation) for file in files]
    compared = len(runs) > 2
    findings = [
        (run.source, finding) for run in runs for finding in judge(run, cluster, compared=compared)
    ]
    if compared:
        findings += [("", finding) for finding in slow_nodes(runs)]
    if as_json:
        print_json(
            {
                "figures": [_figures(run, cluster) for run in runs],
                "findings": [{"log": log, **asdict(finding)} for log, finding in findings],
            }
        )
    else:
        for run in runs:
            say(_sentence(run, cluster))
        for _, finding in findings:
            say(str(finding))
        if not findings:
            say("nothing is wrong with what the logs show")
    if plot:
        _draw(runs, cluster, plot)
    raise typer.Exit(bool(findings))


def _of_operation(run: BenchmarkRun, asked: str | None) -> BenchmarkRun:
    """Return a run with the operation that its log lacks."""
    if asked is None:
        return run
    operation = Operation.named(asked)
    if operation is None:
        raise UnknownName("operation", asked, Operation)
    if run.operation not in (None, operation):
        raise TrainshedError(f"--operation {asked}: the log {run.source} is of {run.operation}")
    return replace(run, operation=operation)


def _read(file: str) -> BenchmarkRun:
    if file == "-":
        return read_benchmark(sys.stdin.read(), "standard input")
    log = read_bytes(Path(file), LARGEST_MADE)
    return read_benchmark(log.decode(errors="replace"), file)


def _rows(run: BenchmarkRun) -> list[Mapping[str, Any]]:
    return [
        {
            "source": run.source,
            "operation": run.operation,
            **asdict(figure),
            "algorithm_gb_per_s": _short(figure.algorithm_gb_per_s),
            "bus_gb_per_s": _short(figure.bus_gb_per_s),
        }
        for figure in run.measurements
    ]


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"


def _figures(run: BenchmarkRun, cluster: Cluster) -> Mapping[str, Any]:
    use = network_use(run, cluster)
    return {
        "log": run.source,
        "tool": run.tool,
        "operation": run.operation,
        "size_bytes": run.largest.size_bytes,
        "bus_gb_per_s": run.largest.bus_gb_per_s,
        "network_gbps_at_least": use and use.gbps,
        "line_rate_gbps": use and use.line_rate_gbps,
    }


def _sentence(run: BenchmarkRun, cluster: Cluster) -> str:
    use = network_use(run, cluster)
    network = (
        f", at least {use.gbps:.0f} of {use.line_rate_gbps:g} Gbps of each node's network"
        if use
        else ""
    )
    return (
        f"{run.source}: {run.tool} {run.operation or 'of an operation that it does not name'}, "
        f"{run.largest.size_bytes} bytes: {run.largest.bus_gb_per_s:.4g} GB/s{network}"
    )


def _draw(runs: list[BenchmarkRun], cluster: Cluster, path: Path) -> None:
    with drawing(path):
        from trainshed.collectives.plot import plot

        plot(runs, cluster, path)
