"""Server-side apply on a real API server: what is created, changed, deleted, refused, cut short."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from api_servers import ApiServer, administrator, eventually, known
from cut_line import cut_line

from embedded_aws.kubernetes.client import ApiRefusal
from trainshed.errors import Failure
from trainshed.kubernetes.apply_progress import CutShort, NotReady, apply_and_wait
from trainshed.kubernetes.applying import Applier
from trainshed.kubernetes.job_template import JobPodPlan
from trainshed.kubernetes.object_step import ApplyOutcome, ApplyStep
from trainshed.kubernetes.objects import ObjectsPlan

pytestmark = pytest.mark.server
DAEMON_SETS = "/apis/apps/v1/namespaces/kube-system/daemonsets"


@pytest.fixture
def plan() -> ObjectsPlan:
    """A cluster of the test's own."""
    name = f"c{uuid4().hex[:8]}"
    return ObjectsPlan(
        cluster=name.upper(),
        region="us-west-2",
        namespace=name,
        service_account="jobs",
        accelerator="habana.ai/gaudi",
        efa=True,
        shared={"lustre": "/fsx"},
        editors=("trainshed:edit",),
        viewers=("trainshed:view",),
        nodes=4,
        job=JobPodPlan(
            image="train:v1",
            resources={"cpu": "94", "habana.ai/gaudi": "8"},
            shared_memory_mib=1024,
            environment={},
            folders={"lustre": "/fsx"},
            attempts=3,
            timeout_seconds=3600,
        ),
    )


def applier(server: ApiServer, plan: ObjectsPlan) -> Applier:
    return Applier(server.client, server.cluster, plan)


def apply(server: ApiServer, plan: ObjectsPlan) -> dict[str, str]:
    return outcomes(applier(server, plan).apply())


def outcomes(steps: Any) -> dict[str, str]:
    return {each.name: each.outcome.value for each in steps}


def daemon_set(server: ApiServer, plan: ObjectsPlan, plugin: str) -> Any:
    return server.call("GET", f"{DAEMON_SETS}/trainshed-{plan.namespace}-{plugin}")


def set_image(server: ApiServer, plan: ObjectsPlan, plugin: str, manager: str) -> None:
    """Change an image as somebody else does."""
    name = f"trainshed-{plan.namespace}-{plugin}"
    container = {"name": plugin, "image": "mine"}
    server.call(
        "PATCH",
        f"{DAEMON_SETS}/{name}?fieldManager={manager}",
        {"spec": {"template": {"spec": {"containers": [container]}}}},
        content_type="application/strategic-merge-patch+json",
    )


def everything(server: ApiServer, plan: ObjectsPlan) -> dict[str, int]:
    """Return how often the specification of each thing was written."""
    found = {}
    for path in (DAEMON_SETS, f"/api/v1/namespaces/{plan.namespace}/configmaps"):
        for each in server.call("GET", path)["items"]:
            if each["metadata"].get("labels", {}).get("trainshed/cluster") == plan.cluster:
                metadata = each["metadata"]
                # What has no status has no generation.
                written = metadata.get("generation") or metadata["resourceVersion"]
                found[metadata["name"]] = int(written)
    return found


def test_everything_is_created_once(api_server: ApiServer, plan: ObjectsPlan) -> None:
    first = apply(api_server, plan)
    before = everything(api_server, plan)
    second = apply(api_server, plan)

    assert set(first.values()) == {"created"}
    assert len(first) == 14
    assert first.keys() == second.keys()
    assert set(second.values()) == {"unchanged"}
    assert everything(api_server, plan) == before


def test_asking_changes_nothing(api_server: ApiServer, plan: ObjectsPlan) -> None:
    planned = outcomes(applier(api_server, plan).plan())

    assert set(planned.values()) == {"created"}
    spaces = api_server.call("GET", "/api/v1/namespaces")["items"]
    assert plan.namespace not in {each["metadata"]["name"] for each in spaces}
    assert everything(api_server, plan) == {}
    assert planned == apply(api_server, plan)


def test_the_server_says_which_fields_would_change(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    apply(api_server, plan)

    steps = applier(api_server, replace(plan, region="eu-south-2")).plan()

    [changed] = [each for each in steps if each.changes]
    [change] = changed.changes
    assert changed.name == f"DaemonSet kube-system/trainshed-{plan.namespace}-efa"
    assert change.field == "spec.template.spec.containers[0].image"
    assert "us-west-2" in change.before
    assert "eu-south-2" in change.after
    image = daemon_set(api_server, plan, "efa")["spec"]["template"]["spec"]["containers"][0]
    assert "us-west-2" in image["image"]


def test_what_the_cluster_no_longer_has_is_deleted(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    apply(api_server, plan)
    smaller = replace(plan, efa=False, shared={})

    planned, done = outcomes(applier(api_server, smaller).plan()), apply(api_server, smaller)

    assert planned == done
    assert {name for name, outcome in done.items() if outcome == "deleted"} == {
        f"DaemonSet kube-system/trainshed-{plan.namespace}-efa",
        f"PersistentVolumeClaim {plan.namespace}/lustre",
        f"PersistentVolume trainshed-{plan.namespace}-lustre",
    }
    eventually(lambda: "deleted" not in apply(api_server, smaller).values())


def test_what_others_made_stays(api_server: ApiServer, plan: ObjectsPlan) -> None:
    other = replace(plan, cluster="OTHER", namespace=f"{plan.namespace}-2")
    apply(api_server, plan)
    apply(api_server, other)
    copy = daemon_set(api_server, plan, "efa")
    labels = copy["metadata"]["labels"]
    copy["metadata"] = {"name": f"{plan.namespace}-copy", "labels": labels}
    api_server.call("POST", DAEMON_SETS, copy)

    done = apply(api_server, replace(plan, efa=False))

    assert [name for name, outcome in done.items() if outcome == "deleted"] == [
        f"DaemonSet kube-system/trainshed-{plan.namespace}-efa"
    ]
    assert api_server.call("GET", f"{DAEMON_SETS}/{plan.namespace}-copy")
    assert daemon_set(api_server, other, "efa")


def test_who_owns_a_field_is_told_before_anything_changes(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    apply(api_server, plan)
    set_image(api_server, plan, "efa", "kubectl-edit")
    set_image(api_server, plan, "gaudi", "somebody")
    before = everything(api_server, plan)

    with pytest.raises(Failure) as refused:
        applier(api_server, replace(plan, shared={}, editors=("trainshed:admin",))).plan()

    head, *conflicts = refused.value.lines
    assert "nothing was changed" in head
    assert len(conflicts) == 2
    assert f"kube-system/trainshed-{plan.namespace}-gaudi: .spec" in conflicts[0]
    assert 'conflict with "somebody"' in conflicts[0]
    assert 'conflict with "kubectl-edit"' in conflicts[1]
    assert everything(api_server, plan) == before


def test_a_namespace_of_another_cluster_is_refused(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    apply(api_server, plan)

    with pytest.raises(Failure, match=f"belongs to the cluster {plan.cluster}, as its ConfigMap"):
        applier(api_server, replace(plan, cluster="Another")).plan()


def test_what_cannot_change_is_said_with_a_way_out(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    apply(api_server, plan)

    with pytest.raises(Failure) as refused:
        applier(api_server, replace(plan, shared={"lustre": "/data"})).plan()

    assert f"PersistentVolume trainshed-{plan.namespace}-lustre is refused" in str(refused.value)
    assert f"kubectl delete persistentvolume trainshed-{plan.namespace}-lustre" in str(
        refused.value
    )


def test_a_namespace_that_is_being_deleted_is_waited_for(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    apply(api_server, plan)
    # As a pod that does not end, it keeps the namespace.
    held = {"metadata": {"name": "held", "finalizers": ["example.org/held"]}}
    space = f"/api/v1/namespaces/{plan.namespace}"
    api_server.call("POST", f"{space}/configmaps", held)
    api_server.call("DELETE", space)
    eventually(lambda: not _is_there(api_server, f"{space}/serviceaccounts/jobs"))

    with pytest.raises(Failure, match="wait until the namespace is gone, and run the command"):
        applier(api_server, plan).plan()

    api_server.call(
        "PATCH",
        f"{space}/configmaps/held",
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
    )
    eventually(lambda: not _is_there(api_server, space))
    assert "created" in apply(api_server, plan).values()


def _is_there(server: ApiServer, path: str) -> bool:
    try:
        server.call("GET", path)
    except ApiRefusal as refused:
        assert refused.code == 404
        return False
    return True


def test_a_server_that_goes_away_leaves_what_can_be_gone_on_with(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    control_plane = api_server.control_plane
    with cut_line(control_plane.port) as line:
        endpoint = f"https://127.0.0.1:{line.port}"
        with administrator(control_plane, endpoint) as client:
            cut = Applier(client, known(control_plane, endpoint), plan)
            steps = cut.plan()

            def show(step: str) -> None:
                if step.startswith("ServiceAccount"):
                    line.cut()

            with pytest.raises(CutShort) as failed:
                apply_and_wait([cut], steps, minutes=0, show=show)

    reason, done, remaining, _ = failed.value.lines
    assert "cannot be reached" in reason
    assert done == (
        f"done: Namespace {plan.namespace}, ConfigMap {plan.namespace}/trainshed, "
        f"ServiceAccount {plan.namespace}/jobs"
    )
    assert f"DaemonSet kube-system/trainshed-{plan.namespace}-efa" in remaining
    again = apply(api_server, plan)
    assert [*again.values()] == ["unchanged"] * 3 + ["created"] * 11


def test_ctrl_c_says_what_is_done_and_can_be_gone_on_with(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    ours = applier(api_server, plan)
    shown: list[str] = []

    def show(step: str) -> None:
        shown.append(step)
        if step.startswith("ConfigMap"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apply_and_wait([ours], ours.plan(), minutes=0, show=show)

    assert f"done: Namespace {plan.namespace}, ConfigMap {plan.namespace}/trainshed" in shown
    assert [*apply(api_server, plan).values()] == ["unchanged"] * 2 + ["created"] * 12


def test_it_waits_until_the_plugins_run(api_server: ApiServer, plan: ObjectsPlan) -> None:
    api_server.add_node(
        f"{plan.namespace}-0",
        labels={"trainshed/cluster": plan.cluster},
        taints={"habana.ai/gaudi": "present"},
        **{"cpu": "96", "memory": "700Gi", "pods": "100"},
    )
    ours = applier(api_server, plan)
    steps: tuple[ApplyStep, ...] = ours.plan()

    # There is no kubelet: the pods are placed, and never run.
    with pytest.raises(Failure) as waited:
        apply_and_wait([ours], steps, minutes=0.05, show=lambda _: None)

    assert f"what {plan.cluster} needs is applied, but not all of it is ready" in str(waited.value)
    assert f"trainshed-{plan.namespace}-efa: 0 of 1 nodes have it" in str(waited.value)
    for plugin in ("gaudi", "efa"):
        run_pods(api_server, f"trainshed-{plan.namespace}-{plugin}")
    apply_and_wait([ours], steps, minutes=1, show=lambda _: None)


def test_a_claim_that_was_deleted_is_said_to_keep_its_volume(
    api_server: ApiServer, plan: ObjectsPlan
) -> None:
    claim = f"/api/v1/namespaces/{plan.namespace}/persistentvolumeclaims/lustre"
    volume = f"/api/v1/persistentvolumes/trainshed-{plan.namespace}-lustre"
    apply(api_server, plan)

    def waits() -> str:
        return "".join(each for each in applier(api_server, plan).waiting() if "lustre" in each)

    eventually(lambda: not waits())
    api_server.call("DELETE", claim)
    eventually(lambda: not _is_there(api_server, claim))

    apply(api_server, plan)

    way_out = f"kubectl delete persistentvolume trainshed-{plan.namespace}-lustre"
    assert eventually(lambda: waits().endswith(way_out))
    api_server.call("DELETE", volume)
    eventually(lambda: not _is_there(api_server, volume))
    apply(api_server, plan)
    eventually(lambda: not waits())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyOrNot:
    """A stage of one step that is ready, or never is."""

    name: str
    ready: bool

    def plan(self) -> tuple[ApplyStep, ...]:
        return (ApplyStep(name=self.name, outcome=ApplyOutcome.CREATED),)

    def apply(self) -> Iterator[ApplyStep]:
        yield from self.plan()

    def waiting(self) -> tuple[str, ...]:
        return () if self.ready else (f"{self.name} does not run",)


def shown(*stages: ReadyOrNot) -> list[str]:
    """Return what is shown when nothing is waited for."""
    said: list[str] = []
    steps = [step for stage in stages for step in stage.plan()]
    try:
        apply_and_wait(stages, steps, minutes=0, show=said.append)
    except NotReady as failed:
        return [*said, *failed.lines]
    return said


def test_without_waiting_it_ends_before_what_needs_a_stage_that_is_not_ready() -> None:
    """Kueue's webhooks refuse its queues while it does not run."""
    chart, ill = (ReadyOrNot(name="chart", ready=each) for each in (True, False))
    needs = ReadyOrNot(name="needs", ready=False)

    assert shown(chart, needs) == ["chart: created", "needs: created"]
    assert shown(ill, needs) == [
        "chart: created",
        "chart is applied, but not all of it is ready after 0 minutes; run the command again to "
        "go on",
        "chart does not run",
    ]


def run_pods(server: ApiServer, name: str) -> None:
    """Have the pods of a DaemonSet run, as a kubelet does."""
    selector = f"labelSelector=app.kubernetes.io%2Fname%3D{name}"
    for pod in server.call("GET", f"/api/v1/namespaces/kube-system/pods?{selector}")["items"]:
        ready = {"type": "Ready", "status": "True"}
        server.call(
            "PATCH",
            f"/api/v1/namespaces/kube-system/pods/{pod['metadata']['name']}/status",
            {"status": {"phase": "Running", "conditions": [ready]}},
            content_type="application/strategic-merge-patch+json",
        )
