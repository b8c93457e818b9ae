"""Pictures of published trainings: what the model makes of them, and types side by side."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from matplotlib.figure import Figure

from trainshed.estimate.comparison import ComparedType
from trainshed.estimate.scaling_model import scaling_model
from trainshed.estimate.training import Estimate
from trainshed.files.figure import check_format, save


def plot_comparison(compared: Sequence[ComparedType], path: Path) -> None:
    """Draw what a million samples cost on one node of each type, a panel for each model.

    Args:
        compared: the rows; those without a price have no bar.
        path: of the picture; its ending, .png or .svg, names the format.

    Raises:
        TrainshedError: the ending is another, or the file cannot be written.
    """
    check_format(path)
    panels = [list(rows) for _, rows in groupby(compared, key=lambda row: row.model)]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, rows in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for place, row in enumerate(reversed(rows)):
            costs = row.usd_per_million
            axes.barh(place, costs or 0, color="lightgray" if row.withdrawn else "tab:blue")
            said = "price unknown" if costs is None else f"{costs:.3g} USD"
            label = f" {said}, {row.per_second:,.0f}/s"
            axes.text(costs or 0, place, label, va="center", fontsize=9)
        names = [f"{r.instance_type}{' (withdrawn)' if r.withdrawn else ''}" for r in rows]
        axes.set_yticks(range(len(rows)), labels=reversed(names))
        axes.set(
            title=f"{rows[0].model}, one node",
            xlabel=f"USD per million {rows[0].sample}, on demand",
            xlim=(0, 1.9 * max(row.usd_per_million or 0 for row in rows) or 1),
        )
        axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def plot_scaling(estimated: Estimate, path: Path) -> None:
    """Draw what is published of a training, the model's line through it, and the estimate.

    Args:
        estimated: the estimate.
        path: of the picture; its ending, .png or .svg, names the format.

    Raises:
        TrainshedError: the ending is another, or the file cannot be written.
    """
    check_format(path)
    training = estimated.training
    published = training.per_second
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    if 1 in published and len(published) > 1:
        counts = range(1, max(published) + 1)
        model, error = scaling_model()
        line = [model.fit(published)(nodes) for nodes in counts]
        axes.plot(counts, line, label=model.formula)
        low, high = ([(1 + sign * error / 100) * y for y in line] for sign in (-1, 1))
        label = f"its largest error, {error:.1f} %"
        axes.fill_between(counts, low, high, alpha=0.2, label=label)
        ideal = [nodes * published[1] for nodes in counts]
        axes.plot(counts, ideal, color="gray", linestyle=":", label="without any loss")
    axes.plot([*published], [*published.values()], "k*", markersize=10, label="published")
    middle = (estimated.per_second.low + estimated.per_second.high) / 2
    axes.plot(estimated.nodes, middle, "ro", fillstyle="none", markersize=14, label="asked for")
    axes.set(
        title=f"{training.what} on {training.instance_type}",
        xlabel="nodes",
        ylabel=f"{training.sample} a second",
        ylim=(0, None),
    )
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    save(figure, path)
