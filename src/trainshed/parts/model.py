"""What a part of a cluster is: its facts, the resources behind it, what is inside."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact about a part.

    Attributes:
        name: unique in the cluster, for instance `placement group`.
        value: for people; empty where the name says all.
        minor: it is told only where both sides have it, and it differs.
    """

    name: str
    value: str = ""
    minor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The resources behind a part.

    Attributes:
        stack: name of the stack that they are in.
        types: of the resources; where the first type goes, the part goes.
        path: in the names of those that count; empty for all.
    """

    stack: str
    types: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart:
    """A part of a cluster as its plan has it.

    Attributes:
        kind: unique in the cluster; one of `ORDER`.
        facts: the first one names it.
        behind: the resources; None where it has none of its own.
        parts: what is inside.
    """

    kind: str
    facts: tuple[Fact, ...]
    behind: Behind | None = None
    parts: tuple["PlannedPart", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """An arrow between two parts, by their kinds, with what is written on it."""

    start: str
    end: str
    text: str = ""


# Of the parts that are side by side: what comes before an arrow comes first.
ORDER = (
    *("job", "queue", "environment", "document", "group"),
    *("zone", "network", "public", "private", "nodes", "cards", "accelerators"),
    *("storage", "bucket", "repository", "registry"),
)


def all_parts(parts: Iterable[PlannedPart]) -> Iterator[PlannedPart]:
    """Yield parts, each followed by what is inside it."""
    for part in parts:
        yield part
        yield from all_parts(part.parts)
