"""A step of the way to a first job, and how far it has come."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class StepState(StrEnum):
    """How far a step has come."""

    DONE = "done"
    TO_DO = "to do"
    AT_WORK = "at work"
    """AWS is still at it, from a command that was stopped."""
    LATER = "later"
    """It cannot be told before the steps before it are done."""
    BLOCKED = "blocked"
    """No command of ours does it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What AWS says of a step.

    Attributes:
        state: how far it has come.
        says: what is there, or what is missing; where it is blocked, what to do, in lines.
        commands: lines of a shell that do it, one after another.
        minutes: about how long they take on AWS; inferred, where no source is given. 0 for less
            than one.
        price: what they cost, in words; None for what costs nothing to speak of.
    """

    state: StepState
    says: str
    commands: tuple[str, ...] = ()
    minutes: int = 0
    price: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step.

    Attributes:
        name: a word, also for the file of what its commands print.
        title: what it does.
        look: asks how far it has come.
        mends: ids of the findings of `trainshed preflight` that are over when it is done.
    """

    name: str
    title: str
    look: Callable[[], Look]
    mends: frozenset[str] = frozenset()
