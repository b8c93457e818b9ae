"""What is said when an application is cut short."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from trainshed.errors import Failure
from trainshed.kubernetes.apply_progress import CutShort, apply_and_wait
from trainshed.kubernetes.object_step import ApplyOutcome, ApplyStep


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage that is planned, and does what it can.

    Attributes:
        name: of it, and of its one step.
        outcome: of the step.
        fails: it fails instead.
        stops: somebody presses Ctrl-C while it is waited for.
    """

    name: str
    outcome: ApplyOutcome = ApplyOutcome.CREATED
    fails: bool = False
    stops: bool = False

    def plan(self) -> tuple[ApplyStep, ...]:
        return (ApplyStep(name=self.name, outcome=self.outcome),)

    def apply(self) -> Iterator[ApplyStep]:
        if self.fails:
            raise Failure("the server is away")
        if self.outcome is not ApplyOutcome.LEFT:
            yield from self.plan()

    def waiting(self) -> tuple[str, ...]:
        if self.stops:
            raise KeyboardInterrupt
        return ()


def run(*stages: Stage) -> list[str]:
    shown: list[str] = []
    steps = [step for stage in stages for step in stage.plan()]
    try:
        apply_and_wait(stages, steps, minutes=1, show=shown.append)
    except CutShort as failed:
        return [*failed.lines[1:]]
    except KeyboardInterrupt:
        return shown[-3:]
    pytest.fail("nothing has cut it short")


def test_what_stays_as_it_is_does_not_remain_to_be_done() -> None:
    others = Stage(name="chart kueue 0.19.2", outcome=ApplyOutcome.LEFT)

    said = run(others, Stage(name="Namespace train"), Stage(name="ConfigMap x", fails=True))

    assert said[0] == "done: Namespace train"
    assert said[1] == "not done, or perhaps the first of them: ConfigMap x"


def test_ctrl_c_while_it_waits_says_that_all_is_applied() -> None:
    said = run(Stage(name="Namespace train", stops=True))

    assert said[0] == "done: Namespace train"
    assert said[1] == "everything is applied, but may not be ready yet"
