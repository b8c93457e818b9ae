"""Handlers of custom resources without Lambda."""

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Answer(NamedTuple):
    """What a custom resource answers to CloudFormation."""

    status: str
    physical_id: str
    data: Any
    reason: str | None


@pytest.fixture
def load_handler(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str], tuple[Any, list[Answer]]]]:
    """Import a handler with a `cfnresponse` that keeps its answers; return it and their list."""
    answers: list[Answer] = []
    cfnresponse = ModuleType("cfnresponse")

    def send(
        event: object,
        context: object,
        status: str,
        data: object,
        physical_id: str,
        *,
        reason: str | None = None,
    ) -> None:
        answers.append(Answer(status, physical_id, data, reason))

    for name, value in {"SUCCESS": "SUCCESS", "FAILED": "FAILED", "send": send}.items():
        setattr(cfnresponse, name, value)
    monkeypatch.setitem(sys.modules, "cfnresponse", cfnresponse)
    loaded: list[str] = []

    def load(module: str) -> tuple[Any, list[Answer]]:
        loaded.append(f"trainshed_constructs.custom_resources.{module}.handler")
        monkeypatch.delitem(sys.modules, loaded[-1], raising=False)
        return importlib.import_module(loaded[-1]), answers

    yield load
    for name in loaded:
        monkeypatch.delitem(sys.modules, name, raising=False)
