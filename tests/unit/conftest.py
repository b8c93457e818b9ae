"""Cluster files in a folder of the test's own, and handlers of custom resources without Lambda."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from trainshed import catalogue
from trainshed.plan import ClusterPlan, Fleet, load_fleet, make_plan
from trainshed.spec import ClusterSpec, InstanceSpec, NodeRange, Orchestrator, SpecError

GOOD = "name: Cluster1\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"


@pytest.fixture
def problems(tmp_path: Path) -> Callable[..., list[str]]:
    """Plan files of these texts together; return the lines of the error, with file names only."""

    def run(*texts: str | bytes) -> list[str]:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{'abcdef'[number]}.yaml"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            paths.append(path)
        with pytest.raises(SpecError) as caught:
            load_fleet(paths)
        return str(caught.value).replace(f"{tmp_path}/", "").split("\n")

    return run


@pytest.fixture
def fleet(tmp_path: Path) -> Callable[..., Fleet]:
    """Plan files of these texts together."""

    def run(*texts: str) -> Fleet:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{'abcdef'[number]}.yaml"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return load_fleet(paths)

    return run


@pytest.fixture
def planned(fleet: Callable[..., Fleet]) -> Callable[[str], ClusterPlan]:
    """Plan one file of this text."""
    return lambda text: fleet(text).clusters[0]


@pytest.fixture(scope="session")
def plan_of() -> Callable[[str, Orchestrator], ClusterPlan]:
    """Plan a cluster of an instance type where it is offered, of several nodes if it can."""

    @cache
    def run(name: str, orchestrator: Orchestrator) -> ClusterPlan:
        nodes = NodeRange(max=4 if catalogue.lookup(name).efa_interfaces_max else 1)
        return make_plan(
            ClusterSpec(
                name="TrainCluster",
                region=catalogue.regions_offering(name)[0],
                orchestrator=orchestrator,
                instance=InstanceSpec(type=name, nodes=nodes, ami="ami-0123456789abcdef0"),
            )
        )

    return run


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


@pytest.fixture
def ordinary_user() -> Iterator[None]:
    """Nobody instead of root, who may read every file."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    yield
    os.seteuid(user)
