"""What a part of a cluster is: its facts, what is paid for, its resources, what is inside."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact about a part.

    Attributes:
        name: unique in the cluster, for instance `placement group`.
        value: for people; empty where the name says all.
        minor: it is shown only where both sides have it, and it differs.
    """

    name: str
    value: str = ""
    minor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a part is paid for.

    Attributes:
        component: what it is, for people.
        item: the name of its price.
        units: of the item, for each of them.
        least: how many of them there are while no job runs.
        most: how many there are at full size; 0 where use decides, which a plan does not know.
        per_node: there are as many as nodes, and they are paid for only while those are there.
    """

    component: str
    item: str
    units: int = 1
    least: int = 0
    most: int = 0
    per_node: bool = False

    @property
    def by_use(self) -> bool:
        """What is paid for depends on use."""
        return not self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResources:
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
        kind: unique in the cluster; `cluster` for all of it.
        facts: the first one names it.
        charges: what is paid for, of it alone.
        resources: those behind it; None where it has none of its own.
        parts: what is inside.
    """

    kind: str
    facts: tuple[Fact, ...]
    charges: tuple[Charge, ...] = ()
    resources: PartResources | None = None
    parts: tuple["PlannedPart", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """An arrow between two parts, by their kinds, with what is written on it."""

    start: str
    end: str
    text: str = ""


def all_parts(part: PlannedPart) -> Iterator[PlannedPart]:
    """Yield a part and all that is inside it, the outermost first."""
    yield part
    for each in part.parts:
        yield from all_parts(each)


def inside_out(part: PlannedPart) -> Iterator[PlannedPart]:
    """Yield all that is inside a part, the innermost first, and then the part."""
    for each in part.parts:
        yield from inside_out(each)
    yield part
