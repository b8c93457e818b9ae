"""A picture of a cluster as SVG: boxes one below the other, narrow enough for a phone."""

import re
from collections.abc import Iterator
from html import escape

from trainshed.explain.drawing import box, style_sheet, text
from trainshed.parts.model import Arrow
from trainshed.review.boxes import PADDING, Box, Layout, flat
from trainshed.review.model import Mark, Part, Topology

_WIDTH = 360
# Arrows between boxes that are not next to each other go along the right side.
_LANE, _HEAD = 10, 5
_STYLE = style_sheet(
    light={
        "text": "font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328",
        ".name": "font-weight: 600",
        ".soft": "fill: #59636e; font-size: 12px",
        ".arriving": "fill: #59636e; font-size: 12px; text-anchor: end",
        ".arrow": "fill: none; stroke: #59636e; stroke-width: 1.5",
        ".head": "fill: #59636e",
        ".added": "fill: #dafbe1; stroke: #1a7f37; stroke-width: 2",
        ".changed": "fill: #fff8c5; stroke: #9a6700; stroke-width: 2",
        ".may-be-replaced": (
            "fill: #fff1e5; stroke: #bc4c00; stroke-width: 3; stroke-dasharray: 8 4"
        ),
        ".replaced": "fill: #ffebe9; stroke: #cf222e; stroke-width: 3; stroke-dasharray: 8 4",
        ".removed": "fill: #ffebe9; stroke: #cf222e; stroke-width: 2; stroke-dasharray: 2 4",
    },
    dark={
        ".arriving": "fill: #9198a1",
        ".arrow": "stroke: #9198a1",
        ".head": "fill: #9198a1",
        ".added": "fill: #12261e; stroke: #3fb950",
        ".changed": "fill: #272115; stroke: #d29922",
        ".may-be-replaced": "fill: #2b1d14; stroke: #f0883e",
        ".replaced": "fill: #2d1719; stroke: #f85149",
        ".removed": "fill: #2d1719; stroke: #f85149",
    },
    within=".topology ",
)


def svg(topology: Topology) -> str:
    """Return a picture as an SVG element, to stand in a page.

    It is as wide as there is place, and follows the reader's light or dark colour scheme. What is
    marked says so in a word, and not by a colour alone.
    """
    layout = Layout(topology)
    gutter = _LANE * (1 + max(layout.lanes.values(), default=-1))
    boxes = layout.stack(topology.parts, 2, 2, _WIDTH - 4 - gutter)
    height = boxes[-1].bottom + 2
    name = "topology-" + re.sub(r"[^a-z0-9]+", "-", topology.title.lower())
    by_id = {each.part.id: each for each in flat(boxes)}
    arrows = (
        _arrow(link, by_id[link.start], by_id[link.end], layout.lanes.get(link))
        for link in topology.links
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="topology" '
            f'viewBox="0 0 {_WIDTH} {height}" width="100%" role="img" '
            f'aria-labelledby="{name}-title" aria-describedby="{name}-text">',
            f'<title id="{name}-title">{escape(f"Topology of {topology.title}")}</title>',
            f'<desc id="{name}-text">{escape(_description(topology))}</desc>',
            _STYLE,
            *(line for each in boxes for line in _draw(each)),
            *(line for lines in arrows for line in lines),
            "</svg>\n",
        )
    )


def _description(topology: Topology) -> str:
    """Say what the picture shows, for those who do not see it."""
    names = {part.id: part.lines[0] for part in topology.all_parts}
    arrows = (f"{names[each.start]}: {each.text}: {names[each.end]}." for each in topology.links)
    return " ".join((*map(_words, topology.parts), "Arrows:", *arrows))


def _words(part: Part) -> str:
    inside = f" In it: {' '.join(map(_words, part.parts))}" if part.parts else ""
    return f"{'; '.join((part.title, *part.lines[1:]))}.{inside}"


def _draw(each: Box) -> Iterator[str]:
    mark = each.part.mark
    kind = "card" if mark is Mark.SAME else mark.replace(" ", "-")
    yield box(each.left, each.top, each.width, each.height, kind)
    for number, (line, style) in enumerate(each.lines):
        left = each.left + (each.width - PADDING if style == "arriving" else PADDING)
        yield text(left, each.middle(number) + 5, line, style)
    for inside in each.inside:
        yield from _draw(inside)


def _arrow(link: Arrow, start: Box, end: Box, lane: int | None) -> Iterator[str]:
    if lane is None:
        x, tip = start.left + 4 * PADDING, end.top
        yield f'<path class="arrow" d="M{x} {start.bottom}V{tip - _HEAD}"/>'
        yield f'<path class="head" d="M{x} {tip}l{-_HEAD} {-_HEAD}h{2 * _HEAD}z"/>'
        yield text(x + PADDING + 4, (start.bottom + tip) // 2 + 4, link.text, "soft")
        return
    right, tip = _WIDTH - 2 - _LANE * lane, end.left + end.width
    leave = start.middle(len(start.arriving))
    arrive = end.middle(end.arriving.index(link))
    yield (
        f'<path class="arrow" d="M{start.left + start.width} {leave}H{right}V{arrive}'
        f'H{tip + _HEAD}"/>'
    )
    yield f'<path class="head" d="M{tip} {arrive}l{_HEAD} {-_HEAD}v{2 * _HEAD}z"/>'
