"""A cluster of Amazon EKS whose nodes and kubelets are the test, on a real API server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

from api_servers import ApiServer, eventually
from lightkube import Client

from trainshed.aws import Region
from trainshed.catalogue import regions_offering
from trainshed.jobs.model import Job
from trainshed.jobs.submission import Submission
from trainshed.kubernetes.applying import Applier
from trainshed.kubernetes.jobsets import JobSets
from trainshed.kubernetes.objects import ObjectsPlan
from trainshed.orchestrators import part
from trainshed.orchestrators.eks.scheduler import EksScheduler
from trainshed.plan import make_plan
from trainshed.spec import ClusterSpec

IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:v1"
BUCKET = "trainshed-kube-123456789012-us-west-2"
STATUS = "application/strategic-merge-patch+json"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets"
RESOURCES = {
    "cpu": "96",
    "memory": "737280Mi",
    "pods": "100",
    "hugepages-2Mi": "30000Mi",
    "habana.ai/gaudi": "8",
    "vpc.amazonaws.com/efa": "4",
}


def planned(name: str, nodes: int, *, lustre: bool = False) -> ObjectsPlan:
    spec = {
        "name": name,
        "region": regions_offering("dl1.24xlarge")[0],
        "orchestrator": "eks",
        "instance": {
            "type": "dl1.24xlarge",
            "nodes": {"max": nodes},
            "ami": "ami-0123456789abcdef0",
        },
        "storage": {"lustre": {}} if lustre else {},
        "job": {"attempts": 2, "environment": {"PRICE": "$(HOME) $5"}},
    }
    plan = make_plan(ClusterSpec.model_validate(spec))
    found: ObjectsPlan = part(plan.orchestrator, "kubernetes").planned_objects(plan)
    return found


@dataclass(frozen=True, kw_only=True)
class KubeCluster:
    """A cluster with nodes, whose kubelets are the test."""

    server: ApiServer
    plan: ObjectsPlan
    scheduler: EksScheduler

    def call(self, method: str, path: str, body: object = None, **form: str) -> Any:
        return self.server.call(method, path, body, **form)

    def node_name(self, index: int) -> str:
        return f"{self.plan.namespace}-{index}"

    def add_node(self, index: int) -> None:
        self.server.add_node(
            self.node_name(index),
            labels={"trainshed/cluster": self.plan.cluster},
            taints={"habana.ai/gaudi": "present"},
            **RESOURCES,
        )

    def submit(self, nodes: int, **changes: Any) -> str:
        fields: dict[str, Any] = {"name": "train", "command": ("run",), "nodes": nodes} | changes
        return self.scheduler.submit(Submission(**fields))

    def job(self, job_id: str) -> Job:
        found = self.scheduler.job(job_id)
        assert found
        return found

    def jobset(self, job_id: str) -> Any:
        return self.call("GET", f"{JOBSETS.format(self.plan.namespace)}/{job_id}")

    def pods(self, job_id: str, attempt: int = 0) -> list[Any]:
        pods = self.call("GET", f"/api/v1/namespaces/{self.plan.namespace}/pods")["items"]
        wanted = {
            "jobset.sigs.k8s.io/jobset-name": job_id,
            "jobset.sigs.k8s.io/restart-attempt": str(attempt),
        }
        mine = [each for each in pods if wanted.items() <= each["metadata"]["labels"].items()]
        index = "batch.kubernetes.io/job-completion-index"
        return sorted(mine, key=lambda each: int(each["metadata"]["labels"][index]))

    def placed(self, job_id: str, count: int, attempt: int = 0) -> list[Any]:
        """Return the pods of a job when so many of them have nodes."""

        def ask() -> list[Any]:
            found = [each for each in self.pods(job_id, attempt) if each["spec"].get("nodeName")]
            return found if len(found) == count else []

        found: list[Any] = eventually(ask)
        return found

    def run(self, pods: list[Any]) -> None:
        """Say that containers run."""
        running = {"startedAt": "2026-11-27T06:00:00Z"}
        for pod in pods:
            self._report(
                pod, "Running", {"running": running}, [{"type": "Ready", "status": "True"}]
            )

    def finish(self, pod: Any, code: int, *conditions: Mapping[str, str]) -> None:
        """Say that a container has ended."""
        ended = {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": "2026-11-27T06:00:00Z",
            "finishedAt": "2026-11-27T06:01:00Z",
        }
        phase = "Failed" if code else "Succeeded"
        self._report(pod, phase, {"terminated": ended}, list(conditions))

    def _report(
        self, pod: Any, phase: str, state: object, conditions: list[Mapping[str, str]]
    ) -> None:
        container = {"name": "job", "image": IMAGE, "imageID": "", "ready": phase == "Running"}
        status = {
            "phase": phase,
            "podIP": "10.20.0.9",
            "conditions": conditions,
            "containerStatuses": [container | {"restartCount": 0, "state": state}],
        }
        path = f"/api/v1/namespaces/{self.plan.namespace}/pods/{pod['metadata']['name']}"
        self.call("PATCH", f"{path}/status", {"status": status}, content_type=STATUS)

    def delete_ended(self, job_id: str) -> None:
        """Delete pods that are to go, as their kubelets do when their containers have ended."""
        for attempt in (0, 1):
            for pod in self.pods(job_id, attempt):
                if pod["metadata"].get("deletionTimestamp"):
                    path = f"/api/v1/namespaces/{self.plan.namespace}/pods"
                    self.call("DELETE", f"{path}/{pod['metadata']['name']}?gracePeriodSeconds=0")


def scheduler_of(client: Client, server: ApiServer, plan: ObjectsPlan) -> EksScheduler:
    jobsets = JobSets(
        client=client, eks=server.cluster, cluster=plan.cluster, namespace=plan.namespace
    )
    healthy: dict[str, Any] = {
        "nodegroup": {"scalingConfig": {"minSize": 0, "maxSize": 1, "desiredSize": 1}}
    }
    eks = Mock(**{"describe_nodegroup.return_value": healthy})
    return EksScheduler(
        region=Region("us-west-2", {"eks": eks}.__getitem__),
        cluster=plan.cluster,
        outputs={},
        eks_cluster="kube",
        node_group="group",
        image=IMAGE,
        bucket=BUCKET,
        jobsets=lambda: jobsets,
    )


def make_cluster(server: ApiServer, nodes: int, *, lustre: bool = False) -> KubeCluster:
    """Make a cluster of the test's own, with nodes."""
    plan = planned(f"C{uuid4().hex[:8]}Cluster", nodes, lustre=lustre)
    for _ in Applier(server.client, server.cluster, plan).apply():
        pass
    accounts = f"/api/v1/namespaces/{plan.namespace}/serviceaccounts"
    eventually(lambda: len(server.call("GET", accounts)["items"]) > 1)
    scheduler = scheduler_of(server.client, server, plan)
    cluster = KubeCluster(server=server, plan=plan, scheduler=scheduler)
    for index in range(nodes):
        cluster.add_node(index)
    return cluster
