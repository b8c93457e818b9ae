"""The commands that `trainshed node` prints: they find the same node of the same cluster."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Answer

from trainshed.aws import Region
from trainshed.cli import node as commands
from trainshed.jobs.nodes import Node

NODE = Node(
    instance_id="i-0a1b",
    address="10.0.0.9",
    addresses=(),
    boot="ok",
    on_spot=False,
    drained=False,
    reservation="cr-0a1b",
)
WHERE = ("--clusters", "other/*.yaml", "--region", "us-west-2")
SAME = "Train --clusters 'other/*.yaml' --region us-west-2 i-0a1b"


class Interrupted:
    """Takes nodes out of service, until it is interrupted; node 0 is NODE."""

    scheduler = SimpleNamespace(cluster="Train")
    control = SimpleNamespace(lost_job="it fails")
    keeps_nodes = True

    def find(self, wanted: str) -> Node:
        assert wanted == "0"
        return NODE

    def jobs_on(self, node: Node) -> tuple[Any, ...]:
        return ()

    def drain(self, node: Node) -> None:
        pass

    def replace(self, node: Node, **_: Any) -> None:
        raise KeyboardInterrupt

    reboot = replace


@pytest.fixture
def node(
    monkeypatch: pytest.MonkeyPatch, trainshed: Callable[..., Answer]
) -> Callable[..., Answer]:
    """`trainshed node` about node 0 of a cluster in another folder."""

    def load(*_: Any) -> Any:
        return SimpleNamespace(name="Train", region="us-west-2")

    def repair_of(_: Region, cluster: str) -> Interrupted:
        return Interrupted()

    monkeypatch.setattr(commands, "load_cluster", load)
    monkeypatch.setattr(commands, "repair_of", repair_of)
    return lambda verb, *more: trainshed("node", verb, "Train", "0", *WHERE, *more)


@pytest.mark.parametrize("verb", ["reboot", "replace"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_after_an_interruption_it_goes_on_with_the_same_node(
    node: Callable[..., Answer], verb: str, force: tuple[str, ...]
) -> None:
    done = node(verb, "--yes", *force)

    assert done.code == 130
    assert done.err.splitlines()[-1] == (
        f"i-0a1b stays drained while it is there; go on: trainshed node {verb} "
        f"{' '.join((SAME, *force))}; or give it jobs again: trainshed node undrain {SAME}"
    )


def test_a_drained_node_is_taken_back_by_the_command_that_is_said(
    node: Callable[..., Answer],
) -> None:
    assert node("drain").out.splitlines()[-1] == f"take it back: trainshed node undrain {SAME}"


def test_a_node_of_a_reservation_is_rebooted_by_the_command_that_is_said(
    node: Callable[..., Answer],
) -> None:
    assert f"trainshed node reboot {SAME} is worth a try" in node("replace", "--yes").err
