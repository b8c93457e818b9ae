"""The instances without a job of several compute environments, none of which are launched here."""

import threading
from typing import Any

import pytest

from embedded_aws.batch import idle_by_environment, tables
from embedded_aws.batch.idle_by_environment import IdleByEnvironment

CALL: Any = None
ROWS = [{"uuid": each, "computeResources": {"type": "EC2"}} for each in ("one", "two")]


class Idle:
    """Notes what it is told.

    Attributes:
        settled: the environments, in this order.
        unguarded: those that were made while others could take the guard.
    """

    settled: list[str]
    unguarded: list[str]

    def __init__(self, _: object, environment: dict[str, Any], **__: object) -> None:
        self.name, self.deleted = environment["uuid"], False
        other = threading.Thread(target=self._try_guard)
        other.start()
        other.join()

    def _try_guard(self) -> None:
        if tables.guard.acquire(blocking=False):
            tables.guard.release()
            self.unguarded.append(self.name)

    def settle_soon(self) -> None:
        self.settled.append(self.name)

    settle = settle_soon


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> IdleByEnvironment:
    Idle.settled, Idle.unguarded = [], []
    monkeypatch.setattr(idle_by_environment, "IdleInstances", Idle)
    return IdleByEnvironment(placing=lambda _: False, changed=lambda: None)


def test_environments_are_added_under_the_guard(idle: IdleByEnvironment) -> None:
    idle.keep_minimum(CALL, ROWS[0])
    idle.delete(CALL, ROWS[1])

    assert Idle.settled == ["one", "two"]
    assert Idle.unguarded == []


def test_launches_are_tried_again_unless_the_environment_is_deleted(
    idle: IdleByEnvironment,
) -> None:
    for each in ROWS:
        idle.keep_minimum(CALL, each)
    idle.delete(CALL, ROWS[0])
    Idle.settled = []

    idle.try_again()

    assert Idle.settled == ["two"]
