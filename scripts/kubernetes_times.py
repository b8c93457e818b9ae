"""Measures a real Kubernetes with many nodes, and prints what one run found as JSON.

It runs in `trainshed offline run`, which has the charts. A node here is an object of the API server
with the Lease of a kubelet, so nothing runs on it: placed is what the scheduler has given a node.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import psutil
from lightkube import Client, SingleConfig
from lightkube.config.models import Cluster, Context, User

from embedded_aws.kubernetes.control_plane import ControlPlane, start
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from trainshed.account.tags import CLUSTER_LABEL
from trainshed.aws import Region
from trainshed.jobs.submission import Submission
from trainshed.kubernetes.applying import Applier
from trainshed.kubernetes.chart_installer import ChartInstaller
from trainshed.kubernetes.charts import CHARTS, lock_chart
from trainshed.kubernetes.client import FIELD_MANAGER
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.jobsets import JobSets
from trainshed.kubernetes.objects import ObjectsPlan
from trainshed.orchestrators import part
from trainshed.orchestrators.eks.scheduler import EksScheduler
from trainshed.plan import make_plan
from trainshed.spec import ClusterSpec

TYPE, TAINT = "dl1.24xlarge", "habana.ai/gaudi"
REGION = Region("us-west-2")
IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:v1"
# As those that a kubelet of the type announces, with the device plugins.
RESOURCES = {
    "cpu": "96",
    "memory": "737280Mi",
    "pods": "100",
    "hugepages-2Mi": "30000Mi",
    "habana.ai/gaudi": "8",
    "vpc.amazonaws.com/efa": "4",
}
MERGE = "application/merge-patch+json"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# Kubernetes, "Nodes": kubelets renew their Leases that often.
RENEWAL_SECONDS = 10
PATIENCE_SECONDS = 600
LOOK_SECONDS = 0.2


def main() -> None:
    """Measure with as many nodes as the argument says."""
    nodes, found = int(sys.argv[1]), dict[str, float]()
    with control_plane(managers=False) as (server, seconds):
        found["start"], found["start_mb"] = seconds, resident_mb(server)
        with administrator(server) as client:
            eks = known(server)
            locked = [(chart, lock_chart(chart)) for chart in CHARTS]
            found["charts"], found["charts_again"] = apply_twice(
                lambda: [ChartInstaller(client, eks, *each, DEFAULT_KUBERNETES) for each in locked]
            )
    with control_plane(managers=True) as (server, seconds):
        found["managed"], found["managed_mb"] = seconds, resident_mb(server)
        plan = planned(nodes)
        with administrator(server) as client, kubelets(server, plan.cluster, nodes):
            eks = known(server)
            found["objects"], found["objects_again"] = apply_twice(
                lambda: [Applier(client, eks, plan)]
            )
            jobsets = JobSets(
                client=client, eks=eks, cluster=plan.cluster, namespace=plan.namespace
            )
            found["placed"] = place(server, jobsets, nodes)
            found["nodes_mb"] = resident_mb(server)
    sys.stdout.write(json.dumps(found) + "\n")


@contextmanager
def control_plane(*, managers: bool) -> Iterator[tuple[ControlPlane, float]]:
    """Start one; yield it, and the seconds until its API server was ready."""
    with TemporaryDirectory() as folder:
        begin = perf_counter()
        server = start(ControlPlaneSettings(folder=folder, jobset=managers, kueue=managers))
        try:
            yield server, perf_counter() - begin
        finally:
            server.stop()


def resident_mb(server: ControlPlane) -> float:
    """Return the resident memory of a control plane, with its supervisor."""
    supervisor = psutil.Process(server.process.pid)
    tree = [supervisor, *supervisor.children(recursive=True)]
    return float(sum(each.memory_info().rss for each in tree) / 1e6)


def known(server: ControlPlane) -> EksCluster:
    """Return what EKS would say of a control plane."""
    return EksCluster(
        name="bench",
        region=REGION,
        endpoint=server.endpoint,
        authority=b64encode(server.authority.read_bytes()).decode(),
    )


def administrator(server: ControlPlane) -> Client:
    """Return the client of our code, with a certificate in place of a token."""
    user = server.administrator
    config = SingleConfig(
        context_name="bench",
        context=Context(cluster="bench"),
        cluster=Cluster(server=server.endpoint, certificate_auth=str(server.authority)),
        user=User(client_cert=str(user.certificate), client_key=str(user.key)),
        fname=server.authority,
    )
    return Client(config, field_manager=FIELD_MANAGER)


def planned(nodes: int) -> ObjectsPlan:
    """Plan a cluster of so many nodes."""
    spec = {
        "name": "TrainCluster",
        "region": REGION.name,
        "orchestrator": "eks",
        "instance": {"type": TYPE, "nodes": {"max": nodes}, "ami": "ami-0123456789abcdef0"},
    }
    plan = make_plan(ClusterSpec.model_validate(spec))
    found: ObjectsPlan = part(plan.orchestrator, "kubernetes").planned_objects(plan)
    return found


def apply_twice(stages: Callable[[], Sequence[ChartInstaller | Applier]]) -> tuple[float, float]:
    """Plan and apply as `trainshed kube apply` does, but wait for no pod; then once more.

    Returns:
        The seconds of each.
    """

    def apply() -> float:
        begin = perf_counter()
        prepared = stages()
        for stage in prepared:
            stage.plan()
        for stage in prepared:
            for _ in stage.apply():
                pass
        return perf_counter() - begin

    return apply(), apply()


@contextmanager
def kubelets(server: ControlPlane, cluster: str, count: int) -> Iterator[None]:
    """Register nodes, and renew their Leases until the end."""
    ended, client = Event(), server.administrator
    names = [f"node-{index}" for index in range(count)]

    def register(name: str) -> None:
        client.call("POST", "/api/v1/nodes", node(name, cluster))
        spec = {"holderIdentity": name, "leaseDurationSeconds": 4 * RENEWAL_SECONDS}
        client.call("POST", LEASES, {"metadata": {"name": name}, "spec": spec | renewed()})

    def renew(name: str) -> None:
        client.call("PATCH", f"{LEASES}/{name}", {"spec": renewed()}, content_type=MERGE)

    def keep_renewing() -> None:
        while not ended.wait(RENEWAL_SECONDS):
            [*pool.map(renew, names)]

    with ThreadPoolExecutor(4) as pool:
        [*pool.map(register, names)]
        thread = Thread(target=keep_renewing)
        thread.start()
        try:
            # The controllers take away the taint of a node that is not ready.
            wait(lambda: all(len(taints) == 1 for taints in node_taints(server)))
            yield
        finally:
            ended.set()
            thread.join()


def node(name: str, cluster: str) -> dict[str, Any]:
    """Return a node that is ready, as a kubelet registers it."""
    return {
        "metadata": {
            "name": name,
            "labels": {CLUSTER_LABEL: cluster, "kubernetes.io/hostname": name},
        },
        "spec": {"taints": [{"key": TAINT, "value": "present", "effect": "NoSchedule"}]},
        "status": {
            "capacity": RESOURCES,
            "allocatable": RESOURCES,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def renewed() -> dict[str, str]:
    """Return what a Lease that is renewed now has."""
    return {"renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


def node_taints(server: ControlPlane) -> Iterator[list[object]]:
    """Yield the taints of each node."""
    for each in server.administrator.call("GET", "/api/v1/nodes")["items"]:
        yield each["spec"].get("taints", [])


def place(server: ControlPlane, jobsets: JobSets, nodes: int) -> float:
    """Submit a job that needs all nodes; return the seconds until each pod has one."""
    scheduler = EksScheduler(
        region=REGION,
        cluster=jobsets.cluster,
        outputs={},
        eks_cluster=jobsets.eks.name,
        node_group="group",
        image=IMAGE,
        jobsets=lambda: jobsets,
    )
    ask = partial(server.administrator.call, "GET")
    pods = f"/api/v1/namespaces/{jobsets.namespace}/pods"
    # The device plugins have their nodes before there is a job.
    wait(
        lambda: (
            all(
                each["status"]["currentNumberScheduled"] == nodes
                for each in ask("/apis/apps/v1/daemonsets")["items"]
            )
            and not ask("/api/v1/pods?fieldSelector=spec.nodeName=&limit=1")["items"]
        )
    )

    def is_placed() -> bool:
        jobs = ask(f"/apis/batch/v1/namespaces/{jobsets.namespace}/jobs")["items"]
        return (
            sum(each["status"].get("active", 0) for each in jobs) == nodes
            and not ask(f"{pods}?fieldSelector=spec.nodeName=&limit=1")["items"]
        )

    begin = perf_counter()
    scheduler.submit(Submission(name="train", command=("run",), nodes=nodes))
    wait(is_placed)
    seconds = perf_counter() - begin
    used = {each["spec"]["nodeName"] for each in ask(pods)["items"]}
    if len(used) != nodes:
        sys.exit(f"error: {nodes} pods are on {len(used)} nodes")
    return seconds


def wait(is_so: Callable[[], bool]) -> None:
    """Return when it is so."""
    begin = perf_counter()
    while not is_so():
        if perf_counter() - begin > PATIENCE_SECONDS:
            sys.exit(f"error: Kubernetes is not ready after {PATIENCE_SECONDS} s")
        sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main()
