"""A picture of what changes with time or price: a cluster's calendar, and its checkpoints."""

from pathlib import Path

from matplotlib.figure import Figure

from trainshed.checkpoints import Advice
from trainshed.checkpoints.plot import draw_storages
from trainshed.day import today
from trainshed.errors import TrainshedError
from trainshed.explain.calendar_plot import draw_calendar
from trainshed.files.figure import check_format, save
from trainshed.plan import ClusterPlan

_CHECKPOINTS_HIGH = 5.0


def plot_cluster(plan: ClusterPlan, advice: Advice | None, path: Path) -> None:
    """Draw a panel for the calendar, and one for the checkpoints on each storage.

    Args:
        plan: the cluster.
        advice: on the checkpoints of its training; None where there is a calendar alone.
        path: of the picture; its ending, .png or .svg, names the format.

    Raises:
        TrainshedError: the ending is another, there is no calendar and no price of storage is
            known, or the file cannot be written.
    """
    calendar = plan.capacity.calendar
    check_format(path)
    priced = advice if advice and advice.has_prices else None
    if not calendar and not priced:
        raise TrainshedError(
            f"no price of storage in {plan.region} is known; trainshed cost sync asks AWS for them"
        )
    heights = [1.2 + 0.6 * len(calendar)] if calendar else []
    heights += [_CHECKPOINTS_HIGH] if priced else []
    figure = Figure(figsize=(8, sum(heights)), layout="constrained")
    panels = iter(figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0])
    if calendar:
        draw_calendar(next(panels), plan, today())
    if priced:
        draw_storages(next(panels), plan, priced)
    save(figure, path)
