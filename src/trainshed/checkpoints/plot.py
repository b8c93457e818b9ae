"""A panel with the time that checkpoints take on each storage, against its price."""

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from trainshed.checkpoints.advice import GOOD_LOSS, Advice, WrittenCheckpoint
from trainshed.plan import ClusterPlan


def draw_storages(axes: Axes, plan: ClusterPlan, advice: Advice) -> None:
    """Draw what part of the time checkpoints take on storages, in sizes from small to large.

    Storages whose price is not known are named, and have no line.

    Args:
        axes: where to.
        plan: the cluster.
        advice: on the checkpoints of its training.
    """
    for sizes in advice.sizes:
        _draw(axes, sizes, "o-", markersize=4)
    for own in advice.own:
        _draw(axes, [own], "*", markersize=14, prefix="this cluster: ")
    axes.axhline(100 * GOOD_LOSS, color="gray", linestyle=":", linewidth=1)
    checkpoint = advice.checkpoint
    axes.set(
        title=f"{checkpoint.gb:,.0f} GB after every {checkpoint.minutes:g} minutes of training, "
        f"written by {plan.nodes.max} x {plan.instance.name}",
        xlabel=f"USD a month, {plan.region}",
        ylabel="time that accelerators wait, %",
        xscale="log",
        ylim=(0, None),
    )
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8)


def _draw(
    axes: Axes, sizes: Iterable[WrittenCheckpoint], style: str, *, markersize: int, prefix: str = ""
) -> None:
    """Draw one kind of storage; without a price it is in the legend alone."""
    name = prefix + next(each.storage for each in sizes)
    known = [
        (each.usd_per_month, 100 * each.lost) for each in sizes if each.usd_per_month is not None
    ]
    if not known:
        axes.plot([], [], " ", label=f"{name}: price unknown")
        return
    usd, lost = zip(*known, strict=True)
    axes.plot(usd, lost, style, markersize=markersize, label=name)
