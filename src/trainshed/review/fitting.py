"""Cut a report until it fits, the least dangerous first."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum


class Cut(IntEnum):
    """What is cut, the first first."""

    ACCEPTED = 1
    FIXED = 2
    PICTURE = 3
    CHANGES = 4
    QUOTAS = 5
    COST = 6
    FACTS = 7
    SECURITY_RULES = 8
    PERMISSIONS = 9
    NEW = 10
    NOTES = 11
    RISKS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """A part of a report, which may lose its last lines, and at last its beginning and end.

    Attributes:
        cut: when it is cut.
        noun: what its lines are, in the plural, for the word about what is cut.
        start: before the lines.
        lines: the most dangerous first.
        end: after the lines.
    """

    cut: Cut
    noun: str
    start: str = ""
    lines: tuple[str, ...] = ()
    end: str = ""

    def __str__(self) -> str:
        """Return the section as text; empty when nothing of it is left."""
        return "\n".join(filter(None, (self.start, *self.lines, self.end))).rstrip("\n")


def size(text: str) -> int:
    """Return how much of the limit a text takes.

    GitHub takes 65,536 characters and 262,144 bytes, as measured; its own words are of characters
    alone. Bytes are never fewer than characters, in whichever way these are counted.
    """
    return len(text.encode())


def fitted(
    start: str, sections: Sequence[ReportSection], limit: int, notice: Callable[[Counter[str]], str]
) -> str:
    """Return a report that fits: the start, a notice of what is cut, and the sections.

    Args:
        start: never cut.
        sections: in the order of the report.
        limit: in bytes.
        notice: says how many lines are cut, by the nouns of the sections.
    """
    left = list(sections)
    cut: Counter[str] = Counter()

    def excess() -> int:
        return size(_joined(start, notice(cut) if cut else "", left)) - limit

    for kind in Cut:
        # The last first: the sections of a kind are in the order of danger, too.
        indexes = [index for index, section in enumerate(left) if section.cut is kind][::-1]
        for index in indexes:
            while (over := excess()) > 0 and (lines := left[index].lines):
                dropped = _last(lines, over)
                left[index] = replace(left[index], lines=lines[:-dropped])
                cut[left[index].noun] += dropped
        for index in indexes:
            if excess() > 0:
                left[index] = replace(left[index], start="", end="")
    return _joined(start, notice(cut) if cut else "", left)


def _last(lines: Sequence[str], excess: int) -> int:
    """Return how many of the last lines have so many bytes; all when they have fewer."""
    number = 0
    while excess > 0 and number < len(lines):
        number += 1
        excess -= size(lines[-number]) + 1
    return number


def _joined(start: str, notice: str, sections: Sequence[ReportSection]) -> str:
    return "\n\n".join(filter(None, (start, notice, *map(str, sections)))) + "\n"
