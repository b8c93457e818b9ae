"""What tests of a control plane ask it to do: nodes of DL1, and JobSets on them."""

from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic, sleep
from typing import Any

from embedded_aws.kubernetes.control_plane import ControlPlane

NODE = {"cpu": "94", "memory": "700Gi", "pods": "100", "hugepages-2Mi": "30000Mi"}
DEVICES = {"habana.ai/gaudi": "8", "vpc.amazonaws.com/efa": "4"}
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets"
_SECONDS = 60


def eventually(ask: Callable[[], Any]) -> Any:
    """Return the first answer that is not empty."""
    deadline = monotonic() + _SECONDS
    while not (found := ask()):
        assert monotonic() < deadline, "it did not come about"
        sleep(0.1)
    return found


def namespace(control_plane: ControlPlane, name: str) -> str:
    """Make a namespace, whose pods have a service account when it is ready."""
    call = control_plane.administrator.call
    call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
    eventually(lambda: call("GET", accounts)["items"])
    return name


def add_nodes(control_plane: ControlPlane, group: str, count: int) -> None:
    """Register nodes as kubelets of DL1 do: an object, then its status."""
    call = control_plane.administrator.call
    for index in range(count):
        name = f"{group}-{index}"
        metadata = {"name": name, "labels": {"group": group}}
        call("POST", "/api/v1/nodes", {"metadata": metadata})
        sizes = NODE | DEVICES
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = {"capacity": sizes, "allocatable": sizes, "conditions": [ready]}
        call(
            "PATCH",
            f"/api/v1/nodes/{name}/status",
            {"status": status},
            content_type="application/strategic-merge-patch+json",
        )
        # The controllers take the taint of a node that is not ready away.
        eventually(partial(_untainted, control_plane, name))


def _untainted(control_plane: ControlPlane, name: str) -> bool:
    node = control_plane.administrator.call("GET", f"/api/v1/nodes/{name}")
    return not node["spec"].get("taints")


def add_queue(control_plane: ControlPlane, space: str, *, gaudis: int) -> None:
    """Make the queue `jobs` of a namespace, with so many accelerators, and enough of the rest."""
    quotas = {name: "1000000" for name in ("memory", "hugepages-2Mi", *DEVICES)}
    quotas |= {"memory": "100Ti", "hugepages-2Mi": "10Ti", "habana.ai/gaudi": str(gaudis)}
    resources = [{"name": name, "nominalQuota": count} for name, count in quotas.items()]
    group = {
        "coveredResources": [*quotas],
        "flavors": [{"name": space, "resources": resources}],
    }
    everywhere: Mapping[str, Any] = {"namespaceSelector": {}, "resourceGroups": [group]}
    for path, kind, name, spec in (
        ("resourceflavors", "ResourceFlavor", space, {"nodeLabels": {"group": space}}),
        ("clusterqueues", "ClusterQueue", space, everywhere),
        (f"namespaces/{space}/localqueues", "LocalQueue", "jobs", {"clusterQueue": space}),
    ):
        queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "spec": spec}
        control_plane.administrator.call(
            "POST", f"{KUEUE}/{path}", {**queue, "metadata": {"name": name}}
        )


def jobset(name: str, group: str, pods: int, *, queue: str | None = None) -> Mapping[str, Any]:
    """A JobSet of whole-node pods, which may be of a queue of Kueue."""
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    limits = {"memory": "600Gi", "hugepages-2Mi": "5Gi", **DEVICES}
    pod = {
        "restartPolicy": "Never",
        "nodeSelector": {"group": group},
        "containers": [{"name": "train", "image": "train", "resources": {"limits": limits}}],
    }
    job = {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": job}}]},
    }


def placed(control_plane: ControlPlane, space: str) -> list[str]:
    """Return the nodes that pods are bound to."""
    pods = control_plane.administrator.call("GET", f"/api/v1/namespaces/{space}/pods")["items"]
    return sorted(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))


def not_placed(control_plane: ControlPlane, space: str, name: str) -> list[str]:
    """Return what the scheduler says of the pods of a JobSet."""
    events = control_plane.administrator.call("GET", f"/api/v1/namespaces/{space}/events")["items"]
    return [
        each["message"]
        for each in events
        if each["reason"] == "FailedScheduling" and each["involvedObject"]["name"].startswith(name)
    ]
