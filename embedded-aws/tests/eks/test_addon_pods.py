"""Add-ons as what they are in a cluster with an API server: pods on its nodes."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

import pytest
from eks_bench import EksBench, until
from kube_bench import asked, own_credentials, token
from node_bench import NodeBench

from embedded_aws.embedded import EmbeddedAws

pytestmark = pytest.mark.server
SETS, DEPLOYMENTS = (f"/apis/apps/v1/{{}}/{kind}" for kind in ("daemonsets", "deployments"))
SYSTEM = "namespaces/kube-system"


@pytest.fixture(scope="module")
def nodes(kubernetes_aws: EmbeddedAws) -> Iterator[NodeBench]:
    """A cluster that has no add-ons but those of its tests, each of which has others."""
    found = NodeBench(EksBench(kubernetes_aws), bootstrapSelfManagedAddons=False)
    yield found
    named = {"clusterName": found.bench.name}
    for name in found.eks.list_nodegroups(**named)["nodegroups"]:
        found.eks.delete_nodegroup(**named, nodegroupName=name)
    until(lambda: not found.eks.list_nodegroups(**named)["nodegroups"])
    found.eks.delete_cluster(name=found.bench.name)


def ask(nodes: NodeBench, path: str) -> tuple[int, Any]:
    bearer = token(nodes.bench.aws, nodes.bench.name, own_credentials(nodes.bench.aws))
    return asked(nodes.cluster, bearer, "GET", path)


def pod_of(nodes: NodeBench, path: str) -> Any:
    """Return the `spec` of the pods of a workload."""
    return ask(nodes, path)[1]["spec"]["template"]["spec"]


def described(nodes: NodeBench, name: str) -> Any:
    return nodes.eks.describe_addon(clusterName=nodes.bench.name, addonName=name)["addon"]


def create(nodes: NodeBench, name: str, **fields: Any) -> str:
    """Create an add-on, and return its status once it is created."""
    nodes.eks.create_addon(clusterName=nodes.bench.name, addonName=name, **fields)
    until(lambda: described(nodes, name)["status"] != "CREATING")
    status: str = described(nodes, name)["status"]
    return status


def ready_nodes(nodes: NodeBench) -> list[str]:
    """Return of each node whether it is ready."""
    items = ask(nodes, "/api/v1/nodes")[1]["items"]
    found = [each["status"].get("conditions", []) for each in items]
    return [each["status"] for of_one in found for each in of_one if each["type"] == "Ready"]


def test_add_ons_run_on_nodes_which_they_make_ready(nodes: NodeBench) -> None:
    before = create(nodes, "coredns")
    fields = nodes.fields(scalingConfig={"minSize": 2, "maxSize": 2, "desiredSize": 2})
    nodes.eks.create_nodegroup(**fields)
    until(lambda: ready_nodes(nodes) == ["False", "False"])
    named = {"configurationValues": '{"env": {"MINIMUM_IP_TARGET": "7"}}'}

    of_network = create(nodes, "vpc-cni", **named)

    until(lambda: ready_nodes(nodes) == ["True", "True"])
    until(lambda: described(nodes, "coredns")["status"] == "ACTIVE")
    assert (before, of_network) == ("DEGRADED", "ACTIVE")
    [container, _] = pod_of(nodes, SETS.format(SYSTEM) + "/aws-node")["containers"]
    assert container["env"] == [{"name": "MINIMUM_IP_TARGET", "value": "7"}]
    assert container["resources"] == {"requests": {"cpu": "25m"}}
    service = ask(nodes, f"/api/v1/{SYSTEM}/services/kube-dns")[1]["spec"]
    cidr = nodes.cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"]
    assert service["clusterIP"] == str(IPv4Network(cidr)[10])


def test_an_add_on_is_updated_and_deleted_in_the_cluster(nodes: NodeBench) -> None:
    name = "eks-node-monitoring-agent"
    path = SETS.format(SYSTEM) + f"/{name}"
    create(nodes, name, addonVersion="v1.6.0-eksbuild.1")

    def image() -> str:
        return str(pod_of(nodes, path)["containers"][0]["image"])

    assert image().endswith("/eks/eks-node-monitoring-agent:v1.6.0-eksbuild.1")

    version = "v1.7.0-eksbuild.2"
    named = {"clusterName": nodes.bench.name, "addonName": name}
    nodes.eks.update_addon(**named, addonVersion=version)

    until(lambda: image().endswith(version))

    nodes.eks.delete_addon(**named)

    until(lambda: ask(nodes, path)[0] == 404)
    until(lambda: ask(nodes, f"/api/v1/{SYSTEM}/serviceaccounts/{name}")[0] == 404)


def test_what_is_preserved_stays_in_the_cluster(nodes: NodeBench) -> None:
    named = {"clusterName": nodes.bench.name, "addonName": "metrics-server"}
    create(nodes, "metrics-server")

    nodes.eks.delete_addon(**named, preserve=True)
    until(lambda: "metrics-server" not in listed(nodes))
    # Another add-on is looked at after it.
    create(nodes, "kube-proxy")

    assert ask(nodes, DEPLOYMENTS.format(SYSTEM) + "/metrics-server")[0] == 200


def listed(nodes: NodeBench) -> list[str]:
    names: list[str] = nodes.eks.list_addons(clusterName=nodes.bench.name)["addons"]
    return names


def test_an_add_on_has_its_own_namespace(nodes: NodeBench) -> None:
    create(nodes, "amazon-cloudwatch-observability")

    path = SETS.format("namespaces/amazon-cloudwatch") + "/fluent-bit"
    assert pod_of(nodes, path)["tolerations"] == [{"operator": "Exists"}]
    shown = described(nodes, "amazon-cloudwatch-observability")
    assert shown["namespaceConfig"] == {"namespace": "amazon-cloudwatch"}
