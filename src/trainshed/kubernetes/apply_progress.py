"""Apply charts and objects and wait for them; say what is done when it is cut short."""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic, sleep
from typing import Protocol

from trainshed.errors import Failure
from trainshed.kubernetes.object_step import ApplyOutcome, ApplyStep

_POLL_SECONDS = 1


class Stage(Protocol):
    """What is applied together, and is ready before the next stage begins."""

    @property
    def name(self) -> str:
        """What is applied."""

    def apply(self) -> Iterator[ApplyStep]:
        """Apply it, and yield each step when it is done."""

    def waiting(self) -> tuple[str, ...]:
        """Return what is not ready yet, and why."""


class CutShort(Failure):
    """Not everything was applied; the message says what was, and what remains."""


class NotReady(Failure):
    """What was applied is not ready in time."""


def apply_and_wait(
    stages: Sequence[Stage],
    steps: Sequence[ApplyStep],
    *,
    minutes: float,
    show: Callable[[str], None],
) -> None:
    """Apply everything that was planned, and return when it is ready.

    Args:
        stages: in their order.
        steps: what they have planned.
        minutes: as for `apply_stages`.
        show: called with each step, and with what is waited for.

    Raises:
        CutShort: it failed in the middle.
        NotReady: as for `apply_stages`.
        KeyboardInterrupt: as it was asked to stop, after it has shown what is done.
    """
    done = list[str]()
    try:
        for step in apply_stages(stages, minutes=minutes, show=show):
            done.append(step.name)
            show(f"{step.name}: {step.outcome}")
    except NotReady:
        raise
    except Failure as error:
        raise CutShort(str(error), *_summary(steps, done)) from error
    except KeyboardInterrupt:
        for line in _summary(steps, done):
            show(line)
        raise


def apply_stages(
    stages: Sequence[Stage], *, minutes: float, show: Callable[[str], None]
) -> Iterator[ApplyStep]:
    """Apply everything and wait for it; yield each step when it is done.

    Args:
        stages: in their order.
        minutes: how long to wait for each stage after its last step; with 0 not at all, but a stage
            begins only after those before it are ready.
        show: called with what is waited for.

    Raises:
        Failure: the server refuses, or does not answer.
        NotReady: a stage is not ready in time; those after it were not begun.
    """
    for stage in stages:
        yield from stage.apply()
        if minutes or stage is not stages[-1]:
            _wait(stage, minutes, show)


def _wait(stage: Stage, minutes: float, show: Callable[[str], None]) -> None:
    end = monotonic() + minutes * 60
    while missing := stage.waiting():
        if monotonic() >= end:
            raise NotReady(
                f"{stage.name} is applied, but not all of it is ready after {minutes:g} minutes; "
                "run the command again to go on",
                *missing,
            )
        show(f"waiting: {missing[0]}")
        sleep(_POLL_SECONDS)


def _summary(steps: Sequence[ApplyStep], done: Sequence[str]) -> tuple[str, ...]:
    remaining = [
        step.name
        for step in steps
        if step.outcome is not ApplyOutcome.LEFT and step.name not in done
    ]
    return (
        f"done: {', '.join(done) or 'nothing'}",
        f"not done, or perhaps the first of them: {', '.join(remaining)}"
        if remaining
        else "everything is applied, but may not be ready yet",
        "run the same command again: what is done stays as it is",
    )
