"""Jobs of a queue on Amazon EKS, by a real API server and the managers of JobSet and Kueue."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from api_servers import ApiServer, administrator, eventually, known
from heartbeats import heartbeats
from kube_clusters import KubeCluster, make_cluster

from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.kubernetes.client import ApiRefusal
from embedded_aws.kubernetes.control_plane import start
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from trainshed.jobs.model import EndCause, JobState
from trainshed.jobs.scheduler import end_job
from trainshed.jobs.why.gathering import gather
from trainshed.jobs.why.judging import explain_job
from trainshed.kubernetes.applying import Applier
from trainshed.kubernetes.cluster_content import delete_content, find_content
from trainshed.kubernetes.object_step import ApplyOutcome

pytestmark = pytest.mark.server

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
MERGE = "application/merge-patch+json"
LOST = {"type": "DisruptionTarget", "status": "True", "message": "the node was deleted"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One with JobSet and Kueue, as on EKS once somebody has installed them."""
    if reason := unavailable():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("kubernetes")
    found = start(ControlPlaneSettings(folder=str(folder), jobset=True, kueue=True))
    try:
        with administrator(found) as client, heartbeats(found.administrator):
            yield ApiServer(control_plane=found, cluster=known(found), client=client)
    finally:
        found.stop()


def without_queue(cluster: KubeCluster) -> None:
    """Have jobs submitted as where Kueue is not installed: it leaves those of no queue alone."""
    cluster.call("DELETE", f"{KUEUE}/namespaces/{cluster.plan.namespace}/localqueues/jobs")


def findings(cluster: KubeCluster, job_id: str) -> dict[str, str]:
    evidence = gather(cluster.scheduler, cluster.job(job_id), datetime.now(UTC))
    return {each.rule: str(each) for each in explain_job(evidence)}


def submit_later(cluster: KubeCluster, nodes: int, before: str) -> str:
    """Submit a job in a later second than another: Kueue takes any first of one second."""
    passed = cluster.job(before).created_at + timedelta(seconds=1)
    eventually(lambda: datetime.now(UTC) >= passed)
    return cluster.submit(nodes)


def explained(cluster: KubeCluster, job_id: str, words: str) -> bool:
    """Return whether Kubernetes says this of a job that waits."""
    job = cluster.job(job_id)
    return job.state is JobState.QUEUED and words in (job.reason or "")


def finish(cluster: KubeCluster, pods: list[Any]) -> None:
    cluster.run(pods)
    for pod in pods:
        cluster.finish(pod, 0)


def test_the_queue_is_applied_once_and_goes_with_its_cluster(server: ApiServer) -> None:
    cluster = make_cluster(server, 1)
    applier = Applier(server.client, server.cluster, cluster.plan)
    space, owned = cluster.plan.namespace, cluster.plan.owned

    # Kueue puts its finalizers on new objects in its own time.
    eventually(lambda: {each.outcome for each in applier.plan()} == {ApplyOutcome.UNCHANGED})
    # The device plugins wait for kubelets for ever.
    eventually(lambda: not [each for each in applier.waiting() if "Queue" in each])

    content = find_content(server.client, server.cluster, owned)
    done = [*delete_content(server.client, server.cluster, owned, content)]

    queues = [f"LocalQueue {space}/jobs", f"ClusterQueue trainshed-{space}-jobs"]
    queues += [f"{kind} trainshed-{space}-nodes" for kind in ("ResourceFlavor", "Topology")]
    assert done[:4] == queues
    # Kueue keeps each until nothing uses it.
    eventually(lambda: not any(exists(cluster, path) for path in paths(space)))


def paths(space: str) -> Iterator[str]:
    yield f"clusterqueues/trainshed-{space}-jobs"
    yield from (f"{kind}/trainshed-{space}-nodes" for kind in ("resourceflavors", "topologies"))


def exists(cluster: KubeCluster, path: str) -> bool:
    try:
        cluster.call("GET", f"{KUEUE}/{path}")
    except ApiRefusal as error:
        if error.code != 404:
            raise
        return False
    return True


def test_without_a_queue_two_jobs_hold_a_part_each_and_wait_for_ever(server: ApiServer) -> None:
    cluster = make_cluster(server, 4)
    without_queue(cluster)
    nodes = [cluster.node_name(index) for index in range(4)]
    for node in nodes[2:]:
        set_schedulable(cluster, node, schedulable=False)
    first = cluster.submit(3)
    cluster.placed(first, 2)
    second = cluster.submit(3)
    eventually(lambda: len(cluster.pods(second)) == 3)

    # The scheduler takes one pod after another, of whatever job: here it takes these two first.
    for pod, node in zip(cluster.pods(second), nodes[2:], strict=False):
        bind(cluster, pod, node)
    for node in nodes[2:]:
        set_schedulable(cluster, node, schedulable=True)

    for job_id in (first, second):
        eventually(partial(explained, cluster, job_id, "4 Insufficient habana.ai/gaudi"))
        cluster.placed(job_id, 2)

    end_job(cluster.scheduler, cluster.job(first), "it blocks the other")

    eventually(partial(has_no_pods, cluster, first))
    assert len({pod["spec"]["nodeName"] for pod in cluster.placed(second, 3)}) == 3


def set_schedulable(cluster: KubeCluster, node: str, *, schedulable: bool) -> None:
    change = {"spec": {"unschedulable": not schedulable}}
    cluster.call("PATCH", f"/api/v1/nodes/{node}", change, content_type=MERGE)


def bind(cluster: KubeCluster, pod: Any, node: str) -> None:
    """Give a pod a node, as the scheduler does."""
    name = pod["metadata"]["name"]
    path = f"/api/v1/namespaces/{cluster.plan.namespace}/pods/{name}/binding"
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    cluster.call("POST", path, {"metadata": {"name": name}, "target": target})


def has_no_pods(cluster: KubeCluster, job_id: str) -> bool:
    cluster.delete_ended(job_id)
    return not cluster.pods(job_id)


def test_with_a_queue_the_second_job_holds_nothing_and_runs_after_the_first(
    server: ApiServer,
) -> None:
    cluster = make_cluster(server, 4)

    first = cluster.submit(3)
    pods = cluster.placed(first, 3)
    second = cluster.submit(3)

    assert len({pod["spec"]["nodeName"] for pod in pods}) == 3
    eventually(partial(explained, cluster, second, "insufficient unused quota for habana.ai/gaudi"))
    assert cluster.pods(second) == []
    statuses = {each.job_id: each.status for each in cluster.scheduler.jobs(unfinished=True)}
    assert statuses[second] == "Queued"
    found = findings(cluster, second)
    assert f"1 jobs of 3 nodes are before it in the queue: train {first}" in found["TS-JOB-008"]
    assert "the job needs 3 nodes, 4 exist" in found["TS-JOB-034"]

    finish(cluster, pods)

    assert len({pod["spec"]["nodeName"] for pod in cluster.placed(second, 3)}) == 3


def test_a_smaller_job_does_not_overtake(server: ApiServer) -> None:
    cluster = make_cluster(server, 4)
    first = cluster.submit(3)
    pods = cluster.placed(first, 3)
    second = cluster.submit(4)
    third = submit_later(cluster, 1, second)
    eventually(partial(explained, cluster, second, "insufficient unused quota"))

    found = findings(cluster, third)
    assert f"2 jobs of 7 nodes are before it in the queue: train {first}" in found["TS-JOB-008"]
    assert cluster.pods(third) == []

    finish(cluster, pods)

    finish(cluster, cluster.placed(second, 4))
    cluster.placed(third, 1)


def test_one_node_more_than_the_cluster_has_is_explained(server: ApiServer) -> None:
    cluster = make_cluster(server, 4)

    job_id = cluster.submit(5)

    eventually(partial(explained, cluster, job_id, "insufficient quota for habana.ai/gaudi"))
    assert cluster.pods(job_id) == []
    assert "the job needs 5 nodes, 4 exist" in findings(cluster, job_id)["TS-JOB-034"]
    assert "submit it with --nodes 4" in findings(cluster, job_id)["TS-JOB-034"]


def test_nodes_that_are_missing_are_not_counted(server: ApiServer) -> None:
    cluster = make_cluster(server, 4)
    cluster.call("DELETE", f"/api/v1/nodes/{cluster.node_name(3)}")

    job_id = cluster.submit(4)

    eventually(partial(explained, cluster, job_id, "allows to fit only 3 out of 4 pod(s)"))
    assert cluster.pods(job_id) == []
    assert "the job needs 4 nodes, 3 exist" in findings(cluster, job_id)["TS-JOB-034"]

    cluster.add_node(4)

    cluster.placed(job_id, 4)


def test_a_job_that_lost_a_node_gives_the_others_back_until_another_comes(
    server: ApiServer,
) -> None:
    cluster = make_cluster(server, 2)
    job_id = cluster.submit(2)
    pods = cluster.placed(job_id, 2)
    cluster.run(pods)

    cluster.call("DELETE", f"/api/v1/nodes/{pods[1]['spec']['nodeName']}")
    cluster.finish(pods[1], 143, LOST)

    eventually(lambda: has_no_pods(cluster, job_id) and explained(cluster, job_id, "1 out of 2"))

    cluster.add_node(2)

    again = {pod["spec"]["nodeName"] for pod in cluster.placed(job_id, 2, attempt=1)}
    assert again == {pods[0]["spec"]["nodeName"], cluster.node_name(2)}
    assert cluster.job(job_id).attempt == 2


def test_a_queued_job_that_was_ended_never_begins(server: ApiServer) -> None:
    cluster = make_cluster(server, 2)
    first = cluster.submit(2)
    pods = cluster.placed(first, 2)
    second = cluster.submit(2)
    third = submit_later(cluster, 2, second)
    eventually(partial(explained, cluster, second, "insufficient unused quota"))

    end_job(cluster.scheduler, cluster.job(second), "not needed")

    job = cluster.job(second)
    assert (job.state, job.status, job.reason) == (JobState.FAILED, "Suspended", "not needed")
    assert job.cause is EndCause.STOPPED

    finish(cluster, pods)

    cluster.placed(third, 2)
    assert cluster.pods(second) == []
    assert cluster.job(second).state is JobState.FAILED


def test_a_running_job_that_was_ended_gives_its_nodes_to_the_next(server: ApiServer) -> None:
    cluster = make_cluster(server, 2)
    first = cluster.submit(2)
    cluster.run(cluster.placed(first, 2))
    second = cluster.submit(2)

    end_job(cluster.scheduler, cluster.job(first), "wrong data")

    eventually(partial(has_no_pods, cluster, first))
    cluster.placed(second, 2)
    job = cluster.job(first)
    assert (job.state, job.status, job.reason) == (JobState.FAILED, "Suspended", "wrong data")
    assert [each.job_id for each in cluster.scheduler.jobs(unfinished=True)] == [second]
