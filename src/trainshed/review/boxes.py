"""Where the boxes of a picture go: one below the other, and those inside others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from textwrap import wrap

from trainshed.parts.model import Arrow
from trainshed.review.model import Part, Topology

PADDING = 8
_LINE, _GAP, _ARROW_GAP = 18, 10, 24
# Width of a letter of 13 px, and of a bold one: as wide as in the widest of the usual fonts.
_LETTER, _BOLD = 7, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
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
    inside: tuple["Box", ...]

    @property
    def bottom(self) -> int:
        """Lower edge."""
        return self.top + self.height

    def middle(self, line: int) -> int:
        """Height at which an arrow meets a line; those of the arriving arrows come first."""
        return self.top + PADDING + line * _LINE + _LINE // 2


def flat(boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield boxes, and those inside them."""
    for each in boxes:
        yield each
        yield from flat(each.inside)


class Layout:
    """Where the boxes and the arrows of a picture go.

    Attributes:
        lanes: of the arrows that go along the side, by number; the others go straight down.
    """

    def __init__(self, topology: Topology) -> None:
        self._straight = _neighbours(topology.parts) & {(x.start, x.end) for x in topology.links}
        self.lanes: dict[Arrow, int] = {}
        order = {part.id: number for number, part in enumerate(topology.all_parts)}
        taken: list[tuple[int, int, int]] = []
        for link in topology.links:
            if (link.start, link.end) in self._straight:
                continue
            first, last = sorted((order[link.start], order[link.end]))
            busy = {lane for low, high, lane in taken if first < high and last > low}
            self.lanes[link] = next(lane for lane in count() if lane not in busy)
            taken.append((first, last, self.lanes[link]))

    def stack(self, parts: Sequence[Part], left: int, top: int, width: int) -> tuple[Box, ...]:
        """Place parts one below the other."""
        boxes: list[Box] = []
        for part in parts:
            if boxes:
                straight = (boxes[-1].part.id, part.id) in self._straight
                top = boxes[-1].bottom + (_ARROW_GAP if straight else _GAP)
            boxes.append(self._box(part, left, top, width))
        return tuple(boxes)

    def _box(self, part: Part, left: int, top: int, width: int) -> Box:
        arriving = tuple(link for link in self.lanes if link.end == part.id)
        room = width - 2 * PADDING
        lines = [(link.text, "arriving") for link in arriving]
        lines += ((line, "name") for line in _wrapped(part.title, room // _BOLD))
        for fact in part.lines[1:]:
            lines += ((line, "") for line in _wrapped(fact, room // _LETTER))
        below = top + PADDING + len(lines) * _LINE + PADDING
        inside = self.stack(part.parts, left + PADDING, below, room)
        bottom = inside[-1].bottom + PADDING if inside else below
        return Box(
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


def _neighbours(parts: Sequence[Part]) -> set[tuple[str, str]]:
    """Return the ids of parts that are one below the other."""
    found = {(above.id, below.id) for above, below in pairwise(parts)}
    return found.union(*(_neighbours(part.parts) for part in parts))
