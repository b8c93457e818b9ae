"""The objects of a cluster, as a real API server and its controllers take them."""

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from api_servers import ApiServer, eventually

from trainshed.catalogue import regions_offering
from trainshed.kubernetes.objects import cluster_objects, manifest
from trainshed.kubernetes.queue import QueueObject
from trainshed.orchestrators import part
from trainshed.plan import ClusterPlan, make_plan
from trainshed.spec import ClusterSpec

GROUPS = {
    "jobsets": "jobset.x-k8s.io",
    "localqueues": "kueue.x-k8s.io",
    "workloads": "kueue.x-k8s.io",
}
ROOT = Path(__file__).parents[2]
TYPES = ("dl1.24xlarge", "p5.48xlarge", "trn1.32xlarge")
TAINTS = {
    "dl1.24xlarge": "habana.ai/gaudi",
    "p5.48xlarge": "nvidia.com/gpu",
    "trn1.32xlarge": "aws.amazon.com/neuron",
}


def planned(name: str, instance: str, *, nodes: int = 2, **changes: object) -> ClusterPlan:
    fields = {
        "name": name,
        "region": regions_offering(instance)[0],
        "orchestrator": "eks",
        "instance": {"type": instance, "nodes": {"max": nodes}, "ami": "ami-0123456789abcdef0"},
        "storage": {"lustre": {}},
    }
    return make_plan(ClusterSpec.model_validate(fields | changes))


def text_of(plan: ClusterPlan) -> str:
    """Return the objects that need no Kueue, which is not here."""
    objects = cluster_objects(part(plan.orchestrator, "kubernetes").planned_objects(plan))
    return manifest(tuple(each for each in objects if not isinstance(each, QueueObject)))


def objects_of(plan: ClusterPlan) -> list[dict[str, Any]]:
    planned_objects = part(plan.orchestrator, "kubernetes").planned_objects(plan)
    return [each.to_dict() for each in cluster_objects(planned_objects)]


def daemon_sets(plan: ClusterPlan) -> dict[str, dict[str, Any]]:
    return {
        each["spec"]["template"]["spec"]["containers"][0]["name"]: each
        for each in objects_of(plan)
        if each["kind"] == "DaemonSet"
    }


@pytest.fixture(scope="module")
def kubeconfig(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The administrator's, for kubectl."""
    client = api_server.control_plane.administrator
    file = tmp_path_factory.mktemp("kubectl") / "config"
    entry = {
        "server": api_server.cluster.endpoint,
        "certificate-authority": str(api_server.control_plane.authority),
    }
    user = {"client-certificate": str(client.certificate), "client-key": str(client.key)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "kube",
        "clusters": [{"name": "kube", "cluster": entry}],
        "users": [{"name": "kube", "user": user}],
        "contexts": [{"name": "kube", "context": {"cluster": "kube", "user": "kube"}}],
    }
    file.write_text(json.dumps(config))
    return file


@pytest.fixture(scope="module")
def applied(api_server: ApiServer, kubeconfig: Path) -> Iterator[None]:
    """Clusters of each maker, applied by kubectl from the text that synthesis writes."""
    for name in TYPES:
        command = ["kubectl", "--kubeconfig", str(kubeconfig), "apply", "--server-side"]
        command += ["--validate=strict", "--filename", "-"]
        text = text_of(planned(name.partition(".")[0].title(), name))
        subprocess.run(command, input=text, text=True, check=True)
    yield


pytestmark = pytest.mark.server


@pytest.mark.parametrize("instance", TYPES)
def test_plugins_run_on_the_tainted_nodes_of_their_cluster_alone(
    api_server: ApiServer, applied: None, instance: str
) -> None:
    short = instance.partition(".")[0]
    for cluster, index in ((short.title(), 0), (short.title(), 1), ("Other", 2)):
        api_server.add_node(
            f"{short}-{index}",
            labels={"trainshed/cluster": cluster},
            taints={TAINTS[instance]: "present"},
            **{"cpu": "96", "memory": "700Gi", "pods": "100"},
        )

    for plugin in daemon_sets(planned(short.title(), instance)):
        path = f"/apis/apps/v1/namespaces/kube-system/daemonsets/trainshed-{short}-{plugin}"
        eventually(partial(scheduled, api_server, path))


def scheduled(server: ApiServer, path: str) -> bool:
    return bool(server.call("GET", path)["status"]["desiredNumberScheduled"] == 2)


def test_the_file_system_is_bound_to_its_claim(api_server: ApiServer, applied: None) -> None:
    path = "/api/v1/namespaces/dl1/persistentvolumeclaims/lustre"

    eventually(lambda: api_server.call("GET", path)["status"].get("phase") == "Bound")

    volume = api_server.call("GET", path)["spec"]["volumeName"]
    found = api_server.call("GET", f"/api/v1/persistentvolumes/{volume}")["spec"]
    assert found["local"]["path"] == "/fsx"
    assert found["persistentVolumeReclaimPolicy"] == "Retain"


@pytest.mark.parametrize(
    ("group", "verb", "resource", "namespace", "allowed"),
    [
        pytest.param("trainshed:edit", "create", "jobsets", "dl1", True, id="edit"),
        pytest.param("trainshed:edit:dl1", "delete", "jobsets", "dl1", True, id="edit-here"),
        pytest.param("trainshed:edit:dl1", "create", "jobsets", "p5", False, id="edit-elsewhere"),
        pytest.param("trainshed:admin", "create", "jobsets", "p5", True, id="admin"),
        pytest.param("trainshed:view", "list", "jobsets", "dl1", True, id="view"),
        pytest.param("trainshed:view", "create", "jobsets", "dl1", False, id="view-only"),
        pytest.param("trainshed:edit", "create", "jobsets", "default", False, id="other-namespace"),
        pytest.param("trainshed:edit", "get", "podtemplates", "dl1", True, id="template"),
        pytest.param("trainshed:edit", "update", "podtemplates", "dl1", False, id="no-template"),
        pytest.param("trainshed:edit", "patch", "workloads", "dl1", True, id="end-queued"),
        pytest.param("trainshed:edit", "delete", "workloads", "dl1", False, id="only-end"),
        pytest.param("trainshed:view", "list", "workloads", "dl1", True, id="view-queued"),
        pytest.param("trainshed:view", "patch", "workloads", "dl1", False, id="view-queued-only"),
        pytest.param("trainshed:edit", "create", "localqueues", "dl1", False, id="no-queue"),
        pytest.param("trainshed:view:dl1", "list", "nodes", "", True, id="nodes"),
        pytest.param("trainshed:edit", "delete", "nodes", "", False, id="delete-nodes"),
        pytest.param("system:authenticated", "list", "nodes", "", False, id="anybody"),
    ],
)
def test_groups_may_do_what_access_policies_cannot_give(
    api_server: ApiServer,
    applied: None,
    group: str,
    verb: str,
    resource: str,
    namespace: str,
    allowed: bool,
) -> None:
    asked = {
        "verb": verb,
        "resource": resource,
        "group": GROUPS.get(resource, ""),
        "namespace": namespace,
        "name": "jobs" if resource == "podtemplates" else "",
    }
    review = api_server.call(
        "POST",
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        {"spec": {"user": "somebody", "groups": [group], "resourceAttributes": asked}},
    )

    assert review["status"]["allowed"] is allowed


def test_efa_has_a_plugin_where_nodes_have_efa_alone() -> None:
    assert daemon_sets(planned("Dl1", "dl1.24xlarge")).keys() == {"gaudi", "efa"}
    assert daemon_sets(planned("Small", "trn1.2xlarge", nodes=1)).keys() == {"neuron"}


@pytest.mark.parametrize("instance", TYPES)
def test_one_plugin_alone_sees_the_verbs_devices(instance: str) -> None:
    seeing = [
        plugin
        for plugin, each in daemon_sets(planned("Cluster1", instance)).items()
        if "/dev/infiniband" in json.dumps(each)
    ]

    assert seeing == ["efa"]


def test_nvidias_plugin_leaves_the_verbs_devices_to_that_of_efa() -> None:
    [container] = daemon_sets(planned("Cluster1", "p5.48xlarge"))["nvidia"]["spec"]["template"][
        "spec"
    ]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]}

    version = container["image"].rpartition(":v")[2]
    assert tuple(map(int, version.split("."))) >= (0, 19, 3)
    assert environment["MOFED_ENABLED"] == "false"
    assert environment["GDRCOPY_ENABLED"] == "true"


def test_gaudis_plugin_is_of_the_release_of_the_driver() -> None:
    pins = json.loads((ROOT / "packer/pins.json").read_text())
    driver = json.dumps(pins["components"]["habana-driver"])
    [container] = daemon_sets(planned("Cluster1", "dl1.24xlarge"))["gaudi"]["spec"]["template"][
        "spec"
    ]["containers"]

    assert f'"habanalabs-dkms": "{container["image"].rpartition(":")[2]}"' in driver


@pytest.mark.parametrize(
    ("region", "account"), [("us-west-2", "602401143452"), ("eu-south-2", "455263428931")]
)
def test_efas_plugin_is_pulled_from_the_registry_of_the_region(region: str, account: str) -> None:
    text = text_of(planned("Cluster1", "g5.48xlarge", region=region))

    assert f" {account}.dkr.ecr.{region}.amazonaws.com/eks/aws-efa-k8s-device-plugin" in text


def test_everything_is_marked_as_ours() -> None:
    labels = [each["metadata"]["labels"] for each in objects_of(planned("Dl1", "dl1.24xlarge"))]

    assert len(labels) > 10
    assert {each["trainshed/cluster"] for each in labels} == {"Dl1"}
    assert {each["app.kubernetes.io/managed-by"] for each in labels} == {"trainshed"}
