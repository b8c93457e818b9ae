"""Jobs on Amazon EKS, by a real API server, its scheduler and the manager of JobSet."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import pytest
from api_servers import ApiServer, administrator, eventually, known
from heartbeats import heartbeats
from kube_clusters import BUCKET, IMAGE, JOBSETS, KubeCluster, make_cluster, planned, scheduler_of

from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.kubernetes.control_plane import start
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from trainshed.account.tags import CLUSTER_LABEL
from trainshed.errors import Failure
from trainshed.jobs.logs import log_lines
from trainshed.jobs.model import EndCause, JobState
from trainshed.jobs.scheduler import end_job
from trainshed.jobs.submission import Submission
from trainshed.jobs.why.gathering import gather
from trainshed.jobs.why.judging import explain_job
from trainshed.kubernetes.applying import Applier
from trainshed.kubernetes.cluster_content import delete_content, find_content

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One with JobSet, as on EKS once somebody has installed it."""
    if reason := unavailable():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("kubernetes")
    found = start(ControlPlaneSettings(folder=str(folder), jobset=True))
    try:
        with administrator(found) as client, heartbeats(found.administrator):
            yield ApiServer(control_plane=found, cluster=known(found), client=client)
    finally:
        found.stop()


Make = Callable[..., KubeCluster]


@pytest.fixture
def make(server: ApiServer) -> Make:
    """Make a cluster of the test's own, with nodes."""
    return partial(make_cluster, server)


def test_pods_take_one_node_each_and_get_what_was_planned(make: Make) -> None:
    cluster = make(2, lustre=True)

    job_id = cluster.submit(
        2,
        name="My_Job",
        command=("sh", "-c", "echo $$ $(hostname)"),
        environment={"PRICE": "7", "MINE": "$(HOME)"},
        timeout_seconds=90,
    )

    pods = cluster.placed(job_id, 2)
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
    [container] = pods[0]["spec"]["containers"]
    assert container["image"] == IMAGE
    # The kubelet makes `$` of `$$`, and leaves no `$(...)` that it knows.
    assert container["args"] == ["sh", "-c", "echo $$$$ $$(hostname)"]
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert (environment["TRAINSHED_NODES"], environment["TRAINSHED_BUCKET"]) == ("2", BUCKET)
    assert (environment["PRICE"], environment["MINE"]) == ("7", "$$(HOME)")
    assert container["resources"]["limits"] == dict(cluster.plan.job.resources)
    assert pods[0]["spec"]["subdomain"] == job_id
    volumes = {each["name"]: each for each in pods[0]["spec"]["volumes"]}
    assert volumes["lustre"]["persistentVolumeClaim"] == {"claimName": "lustre"}
    assert volumes["shared-memory"]["emptyDir"]["medium"] == "Memory"
    job = cluster.job("My_Job")
    assert (job.job_id, job.name, job.node_count, job.timeout_seconds) == (job_id, "My_Job", 2, 90)
    assert (job.state, job.status, job.image) == (JobState.STARTING, "Pending", IMAGE)


def test_a_job_runs_and_succeeds(make: Make) -> None:
    cluster = make(2)
    job_id = cluster.submit(2)
    pods = cluster.placed(job_id, 2)

    cluster.run(pods)

    eventually(lambda: cluster.job(job_id).status == "Running")
    job = cluster.job(job_id)
    assert (job.state, job.main.address) == (JobState.RUNNING, "10.20.0.9")
    assert [each.status for each in cluster.scheduler.jobs(unfinished=True)] == ["Running"]
    # Its node is none that answers.
    with pytest.raises(Failure, match="node 1 is Running and has printed nothing"):
        [*log_lines(cluster.scheduler, job, 1)]

    for pod in pods:
        cluster.finish(pod, 0)

    eventually(lambda: cluster.job(job_id).state is JobState.SUCCEEDED)
    job = cluster.job(job_id)
    assert (job.status, job.reason, job.attempt) == ("Completed", None, 1)
    assert [str(node.ending) for node in job.nodes] == ["exit code 0"] * 2
    assert cluster.scheduler.jobs(unfinished=True) == []
    assert [each.job_id for each in cluster.scheduler.jobs()] == [job_id]


def test_one_node_more_than_there_are_is_explained(make: Make) -> None:
    cluster = make(2)

    job_id = cluster.submit(3)

    cluster.placed(job_id, 2)
    eventually(lambda: cluster.job(job_id).reason)
    job = cluster.job(job_id)
    assert job.state is JobState.QUEUED
    [finding] = explain_job(gather(cluster.scheduler, job, datetime.now(UTC)))
    assert finding.rule == "TS-JOB-034"
    assert "nodes are available" in str(finding)
    assert "the job needs 3 nodes, 2 exist" in str(finding)
    assert "submit it with --nodes 2" in str(finding)


def test_a_job_that_waits_for_another_names_it(make: Make) -> None:
    cluster = make(2)
    first = cluster.submit(2)
    cluster.placed(first, 2)

    job_id = cluster.submit(1)

    eventually(lambda: cluster.job(job_id).reason)
    evidence = gather(cluster.scheduler, cluster.job(job_id), datetime.now(UTC))
    found = {each.rule: str(each) for each in explain_job(evidence)}
    assert first in found["TS-JOB-008"]
    assert "2 exist" in found["TS-JOB-034"]


LOST = {"type": "DisruptionTarget", "status": "True", "message": "the node was deleted"}


@pytest.mark.parametrize(
    ("code", "conditions"),
    [
        pytest.param(197, (), id="peer-lost"),
        # The kubelet of a node that goes ends the container, which may be by any code.
        pytest.param(143, (LOST,), id="node-lost"),
    ],
)
def test_a_lost_node_has_all_start_again_as_often_as_planned(
    make: Make, code: int, conditions: tuple[Mapping[str, str], ...]
) -> None:
    cluster = make(2)
    job_id = cluster.submit(2)
    first = cluster.placed(job_id, 2)
    cluster.run(first)

    cluster.finish(first[1], code, *conditions)

    eventually(partial(again, cluster, job_id))
    second = cluster.placed(job_id, 2, attempt=1)
    job = cluster.job(job_id)
    assert (job.attempt, job.most_attempts) == (2, 2)
    assert not {pod["metadata"]["uid"] for pod in first} & {
        pod["metadata"]["uid"] for pod in second
    }

    cluster.run(second)
    cluster.finish(second[1], code, *conditions)

    eventually(partial(failed, cluster, job_id))
    job = cluster.job(job_id)
    assert (job.status, len(job.attempts)) == ("Failed", 2)
    assert job.attempts[-1].exit_code == code
    assert job.attempts[-1].cause is (EndCause.HOST_ENDED if conditions else None)
    # Kubernetes has deleted the pods of the first.
    assert [len(node.attempts) for node in job.nodes] == [2, 2]
    assert "JobSet started all nodes again" in str(job.nodes[1].attempts[0])
    assert job.nodes[1].attempts[1].exit_code == code


def again(cluster: KubeCluster, job_id: str) -> bool:
    cluster.delete_ended(job_id)
    return len(cluster.pods(job_id, attempt=1)) == 2


def test_another_exit_code_ends_a_job_at_once(make: Make) -> None:
    cluster = make(2)
    job_id = cluster.submit(2)
    pods = cluster.placed(job_id, 2)
    cluster.run(pods)

    cluster.finish(pods[1], 3)

    eventually(partial(failed, cluster, job_id))
    job = cluster.job(job_id)
    assert job.attempt == 1
    assert (job.nodes[1].status, job.nodes[1].ending and job.nodes[1].ending.exit_code) == (
        "Failed",
        3,
    )
    [finding] = explain_job(gather(cluster.scheduler, job, datetime.now(UTC)))
    assert finding.rule == "TS-JOB-015"
    assert "node 1 ended with exit code 3" in str(finding)


def failed(cluster: KubeCluster, job_id: str) -> bool:
    cluster.delete_ended(job_id)
    return cluster.job(job_id).state is JobState.FAILED


def test_a_job_ends_at_its_time_out(make: Make) -> None:
    cluster = make(1)

    job_id = cluster.submit(1, timeout_seconds=1)

    eventually(partial(failed, cluster, job_id))
    job = cluster.job(job_id)
    assert (job.cause, job.attempt) == (EndCause.TIMED_OUT, 1)
    [finding] = explain_job(gather(cluster.scheduler, job, datetime.now(UTC)))
    assert finding.rule == "TS-JOB-017"


def test_a_job_that_was_ended_keeps_its_reason_and_gives_its_nodes_back(make: Make) -> None:
    cluster = make(2)
    job_id = cluster.submit(2)
    cluster.run(cluster.placed(job_id, 2))

    end_job(cluster.scheduler, cluster.job(job_id), "wrong data")

    eventually(partial(gone, cluster, job_id))
    job = cluster.job(job_id)
    assert (job.state, job.status, job.reason) == (JobState.FAILED, "Suspended", "wrong data")
    assert job.cause is EndCause.STOPPED
    assert job.stopped_at
    assert cluster.scheduler.jobs(unfinished=True) == []
    [listed] = cluster.scheduler.jobs()
    assert (listed.job_id, listed.reason) == (job_id, "wrong data")
    with pytest.raises(Failure, match="is over"):
        end_job(cluster.scheduler, job, "again")
    # Others get the nodes.
    cluster.placed(cluster.submit(2), 2)


def gone(cluster: KubeCluster, job_id: str) -> bool:
    cluster.delete_ended(job_id)
    conditions = cluster.jobset(job_id).get("status", {}).get("conditions", [])
    suspended = any((each["type"], each["status"]) == ("Suspended", "True") for each in conditions)
    return suspended and not cluster.pods(job_id)


def test_what_was_applied_goes_with_its_jobs_and_another_cluster_stays(make: Make) -> None:
    cluster, other = make(1, lustre=True), make(1)
    server, space = cluster.server, cluster.plan.namespace
    job_id = cluster.submit(1)
    cluster.placed(job_id, 1)
    owned = cluster.plan.owned
    before = find_content(server.client, server.cluster, other.plan.owned)

    content = find_content(server.client, server.cluster, owned)
    done = [*delete_content(server.client, server.cluster, owned, content)]

    assert done == [*content.names]
    assert (done[0], done[-1]) == (f"JobSet {space}/{job_id}", f"Namespace {space}")
    assert f"PersistentVolume trainshed-{space}-lustre" in done
    assert f"DaemonSet kube-system/trainshed-{space}-efa" in done

    def empty() -> bool:
        cluster.delete_ended(job_id)
        return find_content(server.client, server.cluster, owned).names == ()

    eventually(empty)
    assert find_content(server.client, server.cluster, other.plan.owned).names == before.names


def test_a_namespace_in_which_others_have_something_stays(make: Make) -> None:
    cluster = make(1)
    server, space = cluster.server, cluster.plan.namespace
    owned = cluster.plan.owned
    claim = {
        "metadata": {"name": "checkpoints"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    cluster.call("POST", f"/api/v1/namespaces/{space}/persistentvolumeclaims", claim)
    # Of a kind that a definition adds, and with pods, which go with it.
    theirs = cluster.jobset(cluster.submit(1))
    theirs["metadata"] = {"name": "theirs"}
    theirs["status"] = {}
    cluster.call("POST", JOBSETS.format(space), theirs)
    eventually(lambda: cluster.pods("theirs"))

    content = find_content(server.client, server.cluster, owned)
    done = [*delete_content(server.client, server.cluster, owned, content)]

    assert content.others == ("PersistentVolumeClaim checkpoints", "JobSet theirs")
    assert f"Namespace {space}" not in done
    assert cluster.call("GET", f"/api/v1/namespaces/{space}/persistentvolumeclaims/checkpoints")
    again = find_content(server.client, server.cluster, owned)
    assert (again.objects, again.others) == ((), content.others)


def test_a_jobset_that_somebody_else_made_is_no_job(make: Make) -> None:
    cluster = make(1)
    theirs = cluster.jobset(cluster.submit(1))
    [replicated] = theirs["spec"]["replicatedJobs"]
    theirs["spec"]["replicatedJobs"] = [{**replicated, "name": name} for name in ("a", "b")]
    theirs["metadata"] = {"name": "theirs", "labels": {CLUSTER_LABEL: cluster.plan.cluster}}
    theirs["status"] = {}
    cluster.call("POST", JOBSETS.format(cluster.plan.namespace), theirs)

    assert len(cluster.scheduler.jobs()) == 1
    assert cluster.scheduler.job("theirs") is None


def test_a_kind_that_the_server_does_not_serve_is_not_asked_for(make: Make) -> None:
    cluster = make(1)
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    version = {
        "name": "v1",
        "served": False,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    names = {"plural": "relics", "singular": "relic", "kind": "Relic", "listKind": "RelicList"}
    spec = {"group": "old.example.com", "scope": "Namespaced", "names": names}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "relics.old.example.com"},
        "spec": {**spec, "versions": [version]},
    }
    cluster.call("POST", definitions, definition)

    try:
        content = find_content(cluster.server.client, cluster.server.cluster, cluster.plan.owned)
    finally:
        cluster.call("DELETE", f"{definitions}/relics.old.example.com")

    assert content.others == ()


@pytest.mark.parametrize("name", ["7-days", "A" * 128, "a-" * 60 + "z", "x_" * 40, "0"])
def test_any_name_of_a_job_is_taken(make: Make, name: str) -> None:
    cluster = make(1)

    job_id = cluster.submit(1, name=name)

    assert len(cluster.placed(job_id, 1)[0]["spec"]["hostname"]) <= 63
    assert cluster.job(name).job_id == job_id


def test_a_cluster_that_was_not_applied_says_how(server: ApiServer) -> None:
    plan = planned(f"C{uuid4().hex[:8]}Cluster", 1)
    scheduler = scheduler_of(server.client, server, plan)

    with pytest.raises(Failure, match=f"trainshed kube apply {plan.cluster}"):
        scheduler.submit(Submission(name="train", command=("run",), nodes=1))

    assert scheduler.jobs() == []
    assert scheduler.job("train") is None


def test_a_server_without_jobset_says_how_to_install_it(api_server: ApiServer) -> None:
    plan = planned(f"C{uuid4().hex[:8]}Cluster", 1)
    for _ in Applier(api_server.client, api_server.cluster, plan).apply():
        pass
    scheduler = scheduler_of(api_server.client, api_server, plan)

    with pytest.raises(Failure, match=r"trainshed kube lock C.*, and then: trainshed kube apply"):
        scheduler.submit(Submission(name="train", command=("run",), nodes=1))

    assert scheduler.jobs() == []
    assert scheduler.job("train") is None
