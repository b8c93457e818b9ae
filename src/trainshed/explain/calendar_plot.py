"""A picture of a calendar: when nodes boot, when jobs have them, and when there are none."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

from trainshed.plan import ClusterPlan, Window
from trainshed.plan.calendar import BOOT, span

_DAY = timedelta(days=1)
_TIME = "%Y-%m-%d %H:%M"
# Of the whole time, on both sides.
_MARGIN = 0.02


def draw_calendar(axes: Axes, plan: ClusterPlan, day: date) -> None:
    """Draw a line for each window of a cluster's calendar, on an axis of time.

    Args:
        axes: where to.
        plan: the cluster.
        day: today, which is marked if it is a day of the calendar.
    """
    calendar = plan.capacity.calendar
    first, last = calendar[0].begins_at, max(each.ends_at for each in calendar)
    for place, window in enumerate(calendar):
        for since, until, color, label in _parts(window):
            start, width = date2num(since), date2num(until) - date2num(since)
            # Minutes are narrower than a pixel: their outline is in front of the days beside them.
            axes.barh(
                place,
                width,
                0.5,
                start,
                color=color,
                edgecolor=color,
                linewidth=2,
                zorder=2 if until - since > _DAY else 3,
                label=label,
            )
        said = f" {span(window.usable)} with nodes"
        gone = max((each.launches_until for each in calendar[:place]), default=first)
        if gone < window.begins_at:
            _mark(axes, gone, window.begins_at, "lightgray", "no node is launched")
            said += f",\n {span(window.begins_at - gone)} without before"
        axes.text(1, place, said, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    midnight = datetime.combine(day, time(), UTC)
    if first < midnight + _DAY and midnight < last:
        _mark(axes, midnight, midnight + _DAY, "tab:red", f"today, {day}")
    margin = _MARGIN * (last - first)
    axes.set_xlim(date2num(first - margin), date2num(last + margin))
    _label(axes, plan)


def _label(axes: Axes, plan: ClusterPlan) -> None:
    """Name the axes, the windows and the colors."""
    calendar = plan.capacity.calendar
    axes.set_yticks(
        range(len(calendar)),
        labels=[
            f"{each.reservation_id}\n{each.begins_at:{_TIME}}\nto {each.ends_at:{_TIME}}"
            for each in calendar
        ],
        fontsize=8,
    )
    axes.invert_yaxis()
    locator = AutoDateLocator(tz=UTC)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))
    axes.set_xlabel("UTC")
    axes.grid(visible=True, axis="x", alpha=0.3)
    handles, labels = axes.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    # Above the legend, whose lines have three entries.
    axes.set_title(
        f"Nodes of {plan.name}: up to {plan.nodes.max} x {plan.instance.name}",
        pad=24 if len(shown) <= 3 else 36,
    )
    axes.legend(
        shown.values(),
        shown.keys(),
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        fontsize=8,
        frameon=False,
    )


def _parts(window: Window) -> Iterator[tuple[datetime, datetime, str, str]]:
    """Yield the parts of a window: since when, until when, color and name."""
    booted = min(window.jobs_from, window.launches_until)
    yield window.begins_at, booted, "tab:orange", f"boot, about {span(BOOT)}"
    if booted < window.launches_until:
        yield booted, window.launches_until, "tab:blue", "nodes for jobs"
    if window.launches_until < window.ends_at:
        yield window.launches_until, window.ends_at, "dimgray", "nodes end"


def _mark(axes: Axes, since: datetime, until: datetime, color: str, label: str) -> None:
    """Shade a time behind all windows."""
    axes.axvspan(
        date2num(since),
        date2num(until),
        color=color,
        alpha=0.4,
        linewidth=0,
        zorder=0,
        label=label,
    )
