"""Bandwidth over message size, with what is published and what the network can carry."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from trainshed.collectives.judge import Cluster, network_use
from trainshed.collectives.model import BenchmarkRun
from trainshed.collectives.published import published_results
from trainshed.files.figure import check_format, save


def plot(runs: Sequence[BenchmarkRun], cluster: Cluster, path: Path) -> None:
    """Draw the bus bandwidth of runs over the message size.

    Args:
        runs: one line each.
        cluster: what they ran on.
        path: of the picture; its ending, .png or .svg, names the format.

    Raises:
        TrainshedError: the ending is another, or the file cannot be written.
    """
    check_format(path)
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for run in runs:
        best = {
            size: max(f.bus_gb_per_s for f in run.measurements if f.size_bytes == size)
            for size in sorted({f.size_bytes for f in run.measurements})
        }
        axes.plot([*best], [*best.values()], marker="o", markersize=4, label=run.source)
    for result in published_results():
        if (result.instance_type, result.nodes, result.operation) == (
            cluster.instance.name,
            cluster.nodes,
            runs[0].operation,
        ):
            label = f"published: {result.bandwidth:.4g} GB/s"
            axes.plot(result.size_bytes, result.bandwidth, "r*", markersize=12, label=label)
            if without := result.without_peer_direct:
                label = f"published without peer-direct: {without:.4g} GB/s"
                axes.plot(result.size_bytes, without, "rx", markersize=9, label=label)
    if use := network_use(runs[0], cluster):
        axes.axhline(
            use.bus_gb_per_s_at_line_rate,
            color="black",
            linestyle="--",
            label=f"network line rate: {use.line_rate_gbps:g} Gbps for each node",
        )
    operation = runs[0].operation or "collective"
    axes.set(
        title=f"{operation} on {cluster.nodes} x {cluster.instance.name}",
        xlabel="message size (bytes)",
        ylabel="bus bandwidth (GB/s)",
        ylim=(0, None),
    )
    axes.set_xscale("log", base=2)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    save(figure, path)
