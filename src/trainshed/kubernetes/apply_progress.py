"""Apply the objects of a cluster and wait for them; say what is done when it is cut short."""

from collections.abc import Callable, Sequence
from time import monotonic, sleep

from trainshed.errors import Failure
from trainshed.kubernetes.applying import Applier, ApplyStep

_POLL_SECONDS = 1


class CutShort(Failure):
    """Not everything was applied; the message says what was, and what remains."""


def apply_and_wait(
    applier: Applier,
    steps: Sequence[ApplyStep],
    *,
    minutes: float,
    show: Callable[[str], None],
) -> None:
    """Apply everything, and return when it is ready.

    Args:
        applier: of the cluster.
        steps: what it has planned.
        minutes: how long to wait after the last step; 0 for not at all.
        show: called with each step, and with an empty text while time passes.

    Raises:
        CutShort: it failed in the middle.
        Failure: not everything is ready in time.
        KeyboardInterrupt: as it was asked to stop, after it has shown what is done.
    """
    done = list[str]()
    try:
        for step in applier.apply():
            done.append(step.name)
            show(f"{step.name}: {step.outcome}")
    except Failure as error:
        raise CutShort(str(error), *_summary(steps, done)) from error
    except KeyboardInterrupt:
        for line in _summary(steps, done):
            show(line)
        raise
    if minutes:
        _wait(applier, minutes, show)


def _wait(applier: Applier, minutes: float, show: Callable[[str], None]) -> None:
    end = monotonic() + minutes * 60
    while missing := applier.waiting():
        if monotonic() >= end:
            raise Failure(
                f"everything is applied, but not all is ready after {minutes:g} minutes; run the "
                "command again to go on waiting",
                *missing,
            )
        show(f"waiting: {missing[0]}")
        sleep(_POLL_SECONDS)


def _summary(steps: Sequence[ApplyStep], done: Sequence[str]) -> tuple[str, ...]:
    remaining = [step.name for step in steps if step.name not in done]
    return (
        f"done: {', '.join(done) or 'nothing'}",
        f"not done, or perhaps the first of them: {', '.join(remaining) or 'nothing'}",
        "run the same command again: what is done stays as it is",
    )
