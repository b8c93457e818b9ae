"""A picture of a cluster as SVG: boxes one below the other, narrow enough for a phone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, pairwise
from textwrap import wrap

from trainshed.explain.drawing import box, style_sheet, text
from trainshed.review.model import Arrow, Mark, Part, Topology

_WIDTH = 360
_PADDING, _LINE, _GAP, _ARROW_GAP = 8, 18, 10, 24
# Arrows between boxes that are not next to each other go along the right side.
_LANE, _HEAD = 10, 5
# Width of a letter of 13 px, and of a bold one: as wide as in the widest of the usual fonts.
_LETTER, _BOLD = 7, 8
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """A part with its place.

    Attributes:
        part: what is drawn.
        arriving: the arrows that come along the side.
        lines: what is written on it, each short enough, and the class of each.
        left: of its rectangle, and so on.
        inside: the boxes in it.
    """

    part: Part
    arriving: tuple[Arrow, ...]
    lines: tuple[tuple[str, str], ...]
    left: int
    top: int
    width: int
    height: int
    inside: tuple["_Box", ...]

    @property
    def bottom(self) -> int:
        """Lower edge."""
        return self.top + self.height

    def middle(self, line: int) -> int:
        """Height at which an arrow meets a line; those of the arriving arrows come first."""
        return self.top + _PADDING + line * _LINE + _LINE // 2


def svg(topology: Topology) -> str:
    """Return a picture as an SVG element, to stand in a page.

    It is as wide as there is place, and follows the reader's light or dark colour scheme. What is
    marked says so in a word, and not by a colour alone.
    """
    layout = _Arrangement(topology)
    gutter = _LANE * (1 + max(layout.lanes.values(), default=-1))
    boxes = layout.stack(topology.parts, 2, 2, _WIDTH - 4 - gutter)
    height = boxes[-1].bottom + 2
    name = "topology-" + re.sub(r"[^a-z0-9]+", "-", topology.title.lower())
    by_id = {each.part.id: each for each in _flat(boxes)}
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
    names = {part.id: part.lines[0] for part in _all(topology.parts)}
    arrows = (f"{names[each.start]}: {each.text}: {names[each.end]}." for each in topology.links)
    return " ".join((*map(_words, topology.parts), "Arrows:", *arrows))


def _words(part: Part) -> str:
    inside = f" In it: {' '.join(map(_words, part.parts))}" if part.parts else ""
    return f"{'; '.join((_name(part), *part.lines[1:]))}.{inside}"


def _name(part: Part) -> str:
    return part.lines[0] if part.mark is Mark.SAME else f"{part.mark}: {part.lines[0]}"


def _all(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from _all(part.parts)


def _flat(boxes: Sequence[_Box]) -> Iterator[_Box]:
    for each in boxes:
        yield each
        yield from _flat(each.inside)


class _Arrangement:
    """Where the boxes and the arrows of a picture go.

    Attributes:
        lanes: of the arrows that go along the side, by number; the others go straight down.
    """

    def __init__(self, topology: Topology) -> None:
        below = set(_neighbours(topology.parts))
        self.lanes: dict[Arrow, int] = {}
        order = {part.id: number for number, part in enumerate(_all(topology.parts))}
        taken: list[tuple[int, int, int]] = []
        for link in topology.links:
            if (link.start, link.end) in below:
                continue
            first, last = sorted((order[link.start], order[link.end]))
            busy = {lane for low, high, lane in taken if first < high and last > low}
            self.lanes[link] = next(lane for lane in count() if lane not in busy)
            taken.append((first, last, self.lanes[link]))
        self._straight = {
            (link.start, link.end) for link in topology.links if link not in self.lanes
        }

    def stack(self, parts: Sequence[Part], left: int, top: int, width: int) -> tuple[_Box, ...]:
        """Place parts one below the other."""
        boxes: list[_Box] = []
        for part in parts:
            if boxes:
                straight = (boxes[-1].part.id, part.id) in self._straight
                top = boxes[-1].bottom + (_ARROW_GAP if straight else _GAP)
            boxes.append(self._box(part, left, top, width))
        return tuple(boxes)

    def _box(self, part: Part, left: int, top: int, width: int) -> _Box:
        arriving = tuple(link for link in self.lanes if link.end == part.id)
        room = width - 2 * _PADDING
        lines = [(link.text, "arriving") for link in arriving]
        lines += ((line, "name") for line in _wrapped(_name(part), room // _BOLD))
        for fact in part.lines[1:]:
            lines += ((line, "") for line in _wrapped(fact, room // _LETTER))
        below = top + _PADDING + len(lines) * _LINE + _PADDING
        inside = self.stack(part.parts, left + _PADDING, below, room)
        bottom = inside[-1].bottom + _PADDING if inside else below
        return _Box(
            part=part,
            arriving=arriving,
            lines=tuple(lines),
            left=left,
            top=top,
            width=width,
            height=bottom - top,
            inside=inside,
        )


def _wrapped(fact: str, letters: int) -> list[str]:
    """Break a fact into lines; the arrow of a change stays with what comes after it."""
    return wrap(fact.replace("→ ", "→\N{NO-BREAK SPACE}"), letters, break_on_hyphens=False)


def _neighbours(parts: Sequence[Part]) -> Iterator[tuple[str, str]]:
    """Yield the ids of parts that are one below the other."""
    for above, below in pairwise(parts):
        yield above.id, below.id
    for part in parts:
        yield from _neighbours(part.parts)


def _draw(each: _Box) -> Iterator[str]:
    mark = each.part.mark
    kind = "card" if mark is Mark.SAME else mark.replace(" ", "-")
    yield box(each.left, each.top, each.width, each.height, kind)
    for number, (line, style) in enumerate(each.lines):
        left = each.left + (each.width - _PADDING if style == "arriving" else _PADDING)
        yield text(left, each.middle(number) + 5, line, style)
    for inside in each.inside:
        yield from _draw(inside)


def _arrow(link: Arrow, start: _Box, end: _Box, lane: int | None) -> Iterator[str]:
    if lane is None:
        x, tip = start.left + 4 * _PADDING, end.top
        yield f'<path class="arrow" d="M{x} {start.bottom}V{tip - _HEAD}"/>'
        yield f'<path class="head" d="M{x} {tip}l{-_HEAD} {-_HEAD}h{2 * _HEAD}z"/>'
        yield text(x + _PADDING + 4, (start.bottom + tip) // 2 + 4, link.text, "soft")
        return
    right, tip = _WIDTH - 2 - _LANE * lane, end.left + end.width
    leave = start.middle(len(start.arriving))
    arrive = end.middle(end.arriving.index(link))
    yield (
        f'<path class="arrow" d="M{start.left + start.width} {leave}H{right}V{arrive}'
        f'H{tip + _HEAD}"/>'
    )
    yield f'<path class="head" d="M{tip} {arrive}l{_HEAD} {-_HEAD}v{2 * _HEAD}z"/>'
