"""Drains of nodes, with an API server that answers what it is told to."""

from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from embedded_aws.eks import drains
from embedded_aws.eks.drains import Drains, drain_first
from embedded_aws.eks.node_machines import Machine
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

GROUP = {"resources": {"autoScalingGroups": [{"name": "nodes"}]}}
NODES = {
    name: Machine(instance=SimpleNamespace(private_dns_name=name), group=GROUP, template={})
    for name in ("i-1", "i-2")
}


class ApiServer:
    """Has a pod on each node, and evicts those that it may.

    Attributes:
        refusals: HTTP status of an eviction that is refused, by node.
        evicted: the nodes whose pods were evicted, in this order.
    """

    def __init__(self) -> None:
        self.refusals: dict[str, int] = {}
        self.evicted: list[str] = []

    def call(self, method: str, path: str, *_: object, **__: object) -> Any:
        if method == "GET":
            name = path.rpartition("=")[2]
            pod = {"metadata": {"name": name, "namespace": "default"}}
            return {"items": [] if name in self.evicted else [pod]}
        if path.endswith("/eviction"):
            name = path.split("/")[-2]
            if code := self.refusals.get(name):
                raise ApiRefusal(code, "refused")
            self.evicted.append(name)
        return {}


@pytest.fixture
def drained(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Which nodes are let go, and whether they are drained; 15 minutes last as long as on AWS."""
    monkeypatch.setattr(drains, "let_go", lambda *_: None)
    monkeypatch.setattr(drains, "seconds_here", lambda seconds: seconds)
    return {}


def draining(server: ApiServer, drained: dict[str, bool], *nodes: str) -> Drains:
    """What drains these nodes of a cluster, and says there which it has."""
    unused: Any = None
    cluster: dict[str, Any] = {"ready": set(NODES)}
    found = Drains(unused, cluster, cast("ApiClient", server))
    for each in nodes:
        drain_first(cluster, each, partial(drained.__setitem__, each))
    return found


@pytest.mark.parametrize("code", [429, 500, 404])
def test_an_eviction_that_is_refused_is_tried_again_and_holds_up_no_other_node(
    drained: dict[str, bool], code: int
) -> None:
    server = ApiServer()
    looking = draining(server, drained, *NODES)
    server.refusals["i-1"] = code

    for _ in range(2):
        looking.look(NODES)

    assert drained == {"i-2": True}
    server.refusals.clear()
    for _ in range(2):
        looking.look(NODES)
    assert drained == {"i-1": True, "i-2": True}


def test_a_node_whose_pods_may_not_be_evicted_is_let_go_in_time(
    drained: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ApiServer()
    looking = draining(server, drained, "i-1")
    monkeypatch.setattr(drains, "seconds_here", lambda _: -1)
    server.refusals["i-1"] = 429

    for _ in range(2):
        looking.look(NODES)

    assert drained == {"i-1": False}
