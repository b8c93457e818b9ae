"""Nodes by a real API server: what they have beside what was planned, and how pods leave them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from api_servers import ApiServer

from trainshed.kubernetes.cordon import CordonedNodes
from trainshed.kubernetes.nodes import NodeDifference, NodesPlan, differences, find_nodes

pytestmark = pytest.mark.server

PLAN = NodesPlan(
    cluster="TrainCluster",
    count=2,
    zone="usw2-az4",
    kubernetes="1.35",
    devices={"habana.ai/gaudi": "8", "vpc.amazonaws.com/efa": "4"},
    sizes={"cpu": "94", "memory": "600Gi", "hugepages-2Mi": "10256Mi"},
    max_pods={"dl1.24xlarge": 100},
    taint="habana.ai/gaudi",
)
SIZES = {
    "cpu": "96",
    "memory": "700Gi",
    "pods": "100",
    "hugepages-2Mi": "10256Mi",
    "habana.ai/gaudi": "8",
    "vpc.amazonaws.com/efa": "4",
}
Found = Callable[[str], list[NodeDifference]]


def labels(cluster: str) -> dict[str, str]:
    return {
        "trainshed/cluster": cluster,
        "node.kubernetes.io/instance-type": "dl1.24xlarge",
        "topology.kubernetes.io/zone": "us-west-2d",
        "topology.k8s.aws/zone-id": "usw2-az4",
    }


def join(server: ApiServer, cluster: str, count: int = 2) -> list[str]:
    names = [f"{cluster.lower()}-{index}" for index in range(count)]
    for name in names:
        server.add_node(
            name, labels=labels(cluster), taints={"habana.ai/gaudi": "present"}, **SIZES
        )
    return names


def compare(server: ApiServer, plan: NodesPlan) -> list[NodeDifference]:
    return [*differences(plan, find_nodes(server.client, server.cluster, plan.cluster))]


def test_nodes_as_planned_differ_in_nothing(api_server: ApiServer) -> None:
    join(api_server, "Good")
    join(api_server, "Other", 3)

    assert compare(api_server, replace(PLAN, cluster="Good")) == []


def test_a_node_that_did_not_join_is_missed(api_server: ApiServer) -> None:
    join(api_server, "Short", 1)

    [found] = compare(api_server, replace(PLAN, cluster="Short"))

    assert (found.node, found.what, found.planned, found.found) == (None, "nodes", "2", "1")


@pytest.mark.parametrize(
    ("change", "what", "found"),
    [
        # The device plugin of EFA does not run, as on tainted nodes by the settings of its chart.
        pytest.param({"vpc.amazonaws.com/efa": "0"}, "vpc.amazonaws.com/efa", "0", id="no-plugin"),
        # An old one counts devices that are not EFA, as on p6-b200.
        pytest.param({"vpc.amazonaws.com/efa": "10"}, "vpc.amazonaws.com/efa", "10", id="too-many"),
        pytest.param({"habana.ai/gaudi": "7"}, "habana.ai/gaudi", "7", id="broken-card"),
        pytest.param({"hugepages-2Mi": "5Gi"}, "hugepages-2Mi", "5Gi", id="huge-pages"),
        pytest.param({"memory": "614399Mi"}, "memory", "614399Mi", id="memory"),
        # By nodeadm's own count where an efa-only interface has a slot of card 0, and by a kubelet
        # that nobody told.
        pytest.param({"pods": "149"}, "pods", "149", id="pods-without-addresses"),
        pytest.param({"pods": "51"}, "pods", "51", id="few-pods"),
        pytest.param({"cpu": "93900m"}, "cpu", "93900m", id="cpu"),
    ],
)
def test_a_resource_that_is_not_as_planned_is_named_with_its_node(
    api_server: ApiServer,
    request: pytest.FixtureRequest,
    change: dict[str, str],
    what: str,
    found: str,
) -> None:
    cluster = request.node.callspec.id
    _, second = join(api_server, cluster)
    api_server.set_status(second, change, ready=True)

    [difference] = compare(api_server, replace(PLAN, cluster=cluster))

    assert (difference.node, difference.what) == (second, what)
    assert difference.found == found
    assert difference.advice


def test_a_kubelet_that_does_not_answer_is_named(api_server: ApiServer) -> None:
    first, _ = join(api_server, "Silent")
    api_server.set_status(first, SIZES, ready=False)

    assert [
        (each.node, each.what) for each in compare(api_server, replace(PLAN, cluster="Silent"))
    ] == [(first, "ready")]


def test_a_kubelet_of_another_version_is_named(api_server: ApiServer) -> None:
    first, _ = join(api_server, "Mixed")
    api_server.set_kubelet(first, "v1.34.9-eks-40737a8")

    [found] = compare(api_server, replace(PLAN, cluster="Mixed"))

    assert (found.node, found.what, found.planned, found.found) == (
        *(first, "Kubernetes", "1.35", "v1.34.9-eks-40737a8"),
    )
    assert "an AMI of eks-1.35" in found.advice


def test_what_nodes_say_of_themselves_is_compared(api_server: ApiServer) -> None:
    join(api_server, "Elsewhere")
    plan = replace(
        PLAN,
        cluster="Elsewhere",
        max_pods={"p4d.24xlarge": 100, "p4de.24xlarge": 100},
        zone="usw2-az1",
        taint="nvidia.com/gpu",
    )

    found = {(each.what, each.planned, each.found) for each in compare(api_server, plan)}

    assert found == {
        ("instance type", "p4d.24xlarge or p4de.24xlarge", "dl1.24xlarge"),
        ("zone", "usw2-az1", "us-west-2d, usw2-az4"),
        ("taint", "nvidia.com/gpu", "habana.ai/gaudi"),
    }


def test_a_node_takes_the_pods_of_its_own_type(api_server: ApiServer) -> None:
    join(api_server, "Several")
    types = {"g6e.8xlarge": 50, "dl1.24xlarge": 100}

    as_planned = compare(api_server, replace(PLAN, cluster="Several", max_pods=types))
    types["dl1.24xlarge"] = 60
    other = compare(api_server, replace(PLAN, cluster="Several", max_pods=types))

    assert as_planned == []
    assert [(each.what, each.planned, each.found) for each in other] == [("pods", "60", "100")] * 2


@pytest.mark.parametrize("zone", ["usw2-az4", "us-west-2d"])
def test_a_zone_is_compared_by_its_id_or_its_name(api_server: ApiServer, zone: str) -> None:
    cluster = zone.replace("-", "").upper()
    join(api_server, cluster)

    assert compare(api_server, replace(PLAN, cluster=cluster, zone=zone)) == []


class Late:
    """A client that evicts pods when one of them has just gone.

    Args:
        server: where they are.
        gone: path of that pod.
    """

    def __init__(self, server: ApiServer, gone: str) -> None:
        self._server, self._gone = server, gone

    def list(self, *args: Any, **params: Any) -> Any:
        return self._server.client.list(*args, **params)

    def create(self, *args: Any, **params: Any) -> None:
        if self._gone:
            self._server.call("DELETE", f"{self._gone}?gracePeriodSeconds=0")
            self._gone = ""
        self._server.client.create(*args, **params)


def test_pods_of_jobs_that_run_leave_a_node_and_those_that_ended_stay(
    api_server: ApiServer,
) -> None:
    [node] = join(api_server, "Left", 1)
    pods = "/api/v1/namespaces/default/pods"
    for name, phase in (("a-gone", "Running"), ("b-done", "Succeeded"), ("c-runs", "Running")):
        spec = {"nodeName": node, "containers": [{"name": "job", "image": "job:1"}]}
        api_server.call("POST", pods, {"metadata": {"name": name}, "spec": spec})
        api_server.call(
            "PATCH",
            f"{pods}/{name}/status",
            {"status": {"phase": phase}},
            content_type="application/merge-patch+json",
        )
    client: Any = Late(api_server, f"{pods}/a-gone")
    nodes = CordonedNodes(
        client=client, eks=api_server.cluster, cluster="Left", namespace="default"
    )

    nodes.evict(node)

    left = {each["metadata"]["name"]: each for each in api_server.call("GET", pods)["items"]}
    assert set(left) == {"b-done", "c-runs"}
    assert "deletionTimestamp" in left["c-runs"]["metadata"]
    assert "deletionTimestamp" not in left["b-done"]["metadata"]
