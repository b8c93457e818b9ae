"""What the API server refuses of one pod holds up no other."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from embedded_aws.actions import Call
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.pods import Pods
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal


class Refuses(ApiClient):
    """An API server with pods without a network, which refuses what is said of the first."""

    def __init__(self, code: int) -> None:
        self._code = code
        self.told: list[Any] = []

    def call(self, method: str, path: str, body: object = None, *_: object, **__: object) -> Any:
        if method == "GET":
            return {"items": [pod("first"), pod("second")]}
        if "first" in path:
            raise ApiRefusal(self._code, "refused")
        self.told.append(body)
        return {}


def pod(name: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "7"},
        "spec": {"nodeName": "node", "containers": [{"name": "one", "image": "example.com/one"}]},
        "status": {},
    }


def look(server: Refuses) -> None:
    network = {
        "NetworkCards": [{"MaximumNetworkInterfaces": 3}],
        "Ipv4AddressesPerInterface": 6,
    }
    machine = SimpleNamespace(
        record={"NetworkInfo": network},
        interfaces=[],
        instance=SimpleNamespace(private_ip="10.0.0.1"),
    )
    pods = Pods(server, cast(Call, None), {"name": "c"})
    pods.look({"node": cast(Machine, machine)})


@pytest.mark.parametrize("code", [404, 409], ids=["gone", "changed"])
def test_a_pod_that_has_changed_meanwhile_is_looked_at_again(code: int) -> None:
    server = Refuses(code)

    look(server)

    [told] = server.told
    assert "network is not ready" in str(told["status"])
    # With it the API server refuses to overwrite what another one has said.
    assert told["metadata"] == {"resourceVersion": "7"}


def test_another_refusal_is_told_once_all_pods_are_looked_at() -> None:
    server = Refuses(422)

    with pytest.raises(ApiRefusal, match="refused"):
        look(server)

    assert len(server.told) == 1
