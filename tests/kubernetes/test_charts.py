"""Charts of others on a real API server: by their lock, never over somebody else's, never older."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from api_servers import ApiServer, eventually
from kube_clusters import planned

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.kubernetes.client import ApiRefusal
from trainshed.errors import Failure
from trainshed.kubernetes.applying import Applier
from trainshed.kubernetes.chart_installer import ChartInstaller, chart_installers
from trainshed.kubernetes.charts import JOBSET, KUEUE, Chart, lock_chart
from trainshed.kubernetes.object_step import ApplyStep
from trainshed.plan import load_fleet
from trainshed.plan.kube_lock import KubeLock, LockedChart

pytestmark = pytest.mark.server
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SYSTEM = "/api/v1/namespaces/jobset-system"
DEPLOYMENT = "/apis/apps/v1/namespaces/jobset-system/deployments/jobset-controller"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
MERGE = "application/merge-patch+json"


@pytest.fixture(autouse=True)
def mirror(
    two_regions: EmbeddedAws,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Charts come from the embedded AWS into a cache of these tests."""
    if reason := unavailable():
        pytest.skip(reason)
    two_regions.lead_here(monkeypatch)


@pytest.fixture
def jobset(api_server: ApiServer) -> Iterator[ChartInstaller]:
    """What installs JobSet on a server that has none, and nothing of it is left afterwards."""
    yield installer(api_server, JOBSET, lock_chart(JOBSET))
    for path in (SYSTEM, f"{CRDS}/jobsets.jobset.x-k8s.io"):
        if is_there(api_server, path):
            api_server.call("DELETE", path)
    eventually(lambda: not is_there(api_server, SYSTEM))


def installer(server: ApiServer, chart: Chart, locked: LockedChart) -> ChartInstaller:
    return ChartInstaller(server.client, server.cluster, chart, locked, "1.35")


def is_there(server: ApiServer, path: str) -> bool:
    try:
        server.call("GET", path)
    except ApiRefusal as refused:
        assert refused.code == 404
        return False
    return True


def only(steps: Any) -> ApplyStep:
    [step] = steps
    assert isinstance(step, ApplyStep)
    return step


def apply(chart: ChartInstaller) -> ApplyStep:
    assert only(chart.plan()).outcome != "left as it is, for somebody else installed it"
    return only(chart.apply())


def test_a_chart_is_installed_once_with_the_image_of_its_release(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    planned = only(jobset.plan())
    assert not is_there(api_server, SYSTEM)

    done = apply(jobset)

    assert planned == done
    assert (done.name, done.outcome) == ("chart jobset 0.12.0", "created")
    [container] = api_server.call("GET", DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.k8s.io/jobset/jobset:v0.12.0"
    assert only(jobset.plan()).outcome == "unchanged"
    assert only(jobset.apply()).outcome == "unchanged"


def test_what_a_manager_fills_in_stays(api_server: ApiServer, jobset: ChartInstaller) -> None:
    apply(jobset)
    secret = f"{SYSTEM}/secrets/jobset-webhook-server-cert"
    api_server.call("PATCH", secret, {"data": {"tls.crt": "bWluZQ=="}}, content_type=MERGE)

    done = apply(jobset)

    assert done.outcome == "unchanged"
    assert api_server.call("GET", secret)["data"] == {"tls.crt": "bWluZQ=="}


def test_it_waits_for_the_manager_and_its_resources(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    apply(jobset)

    # There is no kubelet: nothing runs.
    eventually(
        lambda: (
            jobset.waiting()
            == ("Deployment jobset-system/jobset-controller: 0 of 1 pods are ready",)
        )
    )
    [pod] = eventually(lambda: api_server.call("GET", f"{SYSTEM}/pods")["items"])
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    path = f"{SYSTEM}/pods/{pod['metadata']['name']}/status"
    api_server.call("PATCH", path, {"status": status}, content_type=MERGE)
    eventually(lambda: jobset.waiting() == ())


def test_it_waits_until_its_resources_are_served(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    # Who is first has the name of a kind within a group.
    other = f"{CRDS}/others.jobset.x-k8s.io"
    api_server.call("POST", CRDS, definition("others"))
    eventually(lambda: "Established" in str(api_server.call("GET", other).get("status")))

    apply(jobset)

    name = "CustomResourceDefinition jobsets.jobset.x-k8s.io"
    assert f"{name}: the API server does not serve it yet" in jobset.waiting()
    api_server.call("DELETE", other)
    eventually(lambda: not [each for each in jobset.waiting() if each.startswith(name)])


def test_a_chart_that_trainshed_does_not_install_is_refused(
    api_server: ApiServer, tmp_path: Path
) -> None:
    file = tmp_path / "kube.yaml"
    file.write_text(
        "name: KubeCluster\nregion: us-west-2\norchestrator: eks\n"
        "instance: {type: trn1.32xlarge, nodes: {max: 2}}\nkubernetes: {version: '1.35'}\n"
    )
    lock = KubeLock(kubernetes="1.35", add_ons={}, charts={"volcano": lock_chart(JOBSET)})
    (tmp_path / "kube.lock.json").write_text(lock.to_json())
    [plan] = load_fleet([file]).clusters
    assert plan.control_plane

    with pytest.raises(Failure, match="the lock of kube has the chart volcano, and this trainshed"):
        chart_installers(api_server.client, api_server.cluster, plan.control_plane, lambda _: None)


def definition(plural: str) -> dict[str, Any]:
    """Return a definition of JobSets as somebody else may have it."""
    version = {
        "name": "v1alpha2",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    return {
        "metadata": {"name": f"{plural}.jobset.x-k8s.io", "labels": {"of": "somebody"}},
        "spec": {
            "group": "jobset.x-k8s.io",
            "names": {"kind": "JobSet", "plural": plural},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def test_what_somebody_else_installed_is_left(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    api_server.call("POST", CRDS, definition("jobsets"))

    planned = only(jobset.plan())

    assert planned.outcome == "left as it is, for somebody else installed it"
    assert [*jobset.apply()] == []
    assert jobset.waiting() == ()
    assert not is_there(api_server, SYSTEM)


def test_a_lock_that_is_older_than_what_is_installed_is_refused(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    apply(jobset)
    record = {"data": {"version": "0.100.0"}}
    api_server.call("PATCH", f"{SYSTEM}/configmaps/trainshed", record, content_type=MERGE)

    with pytest.raises(Failure, match=r"kube has JobSet 0.100.0, and the lock has 0.12.0: another"):
        jobset.plan()


def test_a_newer_lock_updates_and_deletes_what_the_chart_no_longer_has(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    apply(jobset)
    # As an earlier version, with a role and a resource that this one lacks, and another image.
    label = {"trainshed/chart": "jobset"}
    form = {"content_type": "application/apply-patch+yaml"}
    by = "?fieldManager=trainshed&force=true"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "old"}}
    account["metadata"]["labels"] = label  # type: ignore[index]
    api_server.call("PATCH", f"{SYSTEM}/serviceaccounts/old{by}", account, **form)
    record = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "trainshed", "labels": label},
        "data": {"version": "0.9.0", "digest": f"sha256:{'0' * 64}"},
    }
    api_server.call("PATCH", f"{SYSTEM}/configmaps/trainshed{by}", record, **form)

    planned, done = only(jobset.plan()), apply(jobset)

    assert planned == done
    assert done.outcome == "changed"
    told = {each.field: (each.before, each.after) for each in done.changes}
    assert told["ServiceAccount jobset-system/old"] == ("there", None)
    assert told["ConfigMap jobset-system/trainshed: data.version"] == ("0.9.0", "0.12.0")
    assert not is_there(api_server, f"{SYSTEM}/serviceaccounts/old")
    assert is_there(api_server, f"{CRDS}/jobsets.jobset.x-k8s.io")


def test_the_same_release_with_another_digest_is_refused(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    apply(jobset)
    record = {"data": {"digest": f"sha256:{'0' * 64}"}}
    api_server.call("PATCH", f"{SYSTEM}/configmaps/trainshed", record, content_type=MERGE)

    with pytest.raises(Failure, match="releases do not change, so find out who changed it"):
        jobset.plan()


def test_fields_of_others_are_told_and_nothing_is_changed(
    api_server: ApiServer, jobset: ChartInstaller
) -> None:
    apply(jobset)
    other = {"spec": {"replicas": 3}}
    api_server.call("PATCH", f"{DEPLOYMENT}?fieldManager=somebody", other, content_type=MERGE)

    with pytest.raises(Failure) as refused:
        jobset.plan()

    assert 'conflict with "somebody"' in str(refused.value)
    assert "Deployment jobset-system/jobset-controller: .spec.replicas" in str(refused.value)
    assert api_server.call("GET", DEPLOYMENT)["spec"]["replicas"] == 3


def test_kueue_looks_at_jobsets_alone(api_server: ApiServer) -> None:
    """With all that it knows, no pod of the cluster could begin while it does not answer."""
    kueue = installer(api_server, KUEUE, lock_chart(KUEUE))

    assert apply(kueue).outcome == "created"

    assert apply(kueue).outcome == "unchanged"
    found = api_server.call(
        "GET", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    )["items"]
    [webhooks] = (each["webhooks"] for each in found if "kueue" in each["metadata"]["name"])
    policies = {each["name"]: each["failurePolicy"] for each in webhooks}
    assert policies["mjobset.kb.io"] == "Fail"
    assert {policies[f"m{kind}.kb.io"] for kind in ("pod", "deployment", "statefulset")} == {
        "Ignore"
    }
    settings = api_server.call(
        "GET", "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config"
    )["data"]["controller_manager_config.yaml"]
    assert "jobset.x-k8s.io/jobset" in settings


@pytest.fixture
def silent_webhook(api_server: ApiServer) -> Iterator[None]:
    """Kueue's resources, and in place of its webhooks one on a port where nothing listens."""
    apply(installer(api_server, KUEUE, lock_chart(KUEUE)))
    for kind in ("validating", "mutating"):
        name = f"{kind}webhookconfigurations/kueue-{kind}-webhook-configuration"
        api_server.call("DELETE", f"{ADMISSION}/{name}")
    rule = {"apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["*"], "resources": ["*"]}
    webhook = {
        "name": "silent.example.org",
        "clientConfig": {"url": "https://127.0.0.1:9/"},
        "rules": [{**rule, "operations": ["*"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    silent = {"metadata": {"name": "silent"}, "webhooks": [webhook]}
    api_server.call("POST", f"{ADMISSION}/validatingwebhookconfigurations", silent)
    yield
    api_server.call("DELETE", f"{ADMISSION}/validatingwebhookconfigurations/silent")


@pytest.mark.usefixtures("silent_webhook")
def test_a_kueue_that_does_not_answer_does_not_keep_its_own_chart_from_being_mended(
    api_server: ApiServer,
) -> None:
    plan = planned("QueueCluster", 1)

    def outcome(*, kueue_comes: bool) -> str:
        ours = Applier(api_server.client, api_server.cluster, plan, kueue_comes=kueue_comes)
        return next(each.outcome for each in ours.plan() if each.name.startswith("ClusterQueue"))

    def refused() -> bool:
        """The server learns of a new webhook a moment later."""
        try:
            outcome(kueue_comes=False)
        except Failure as failure:
            return "failed calling webhook" in str(failure)
        return False

    eventually(refused)
    assert outcome(kueue_comes=True) == "applied, unasked: its webhook does not answer yet"


def test_a_chart_that_was_changed_in_the_cache_is_refused(
    api_server: ApiServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    locked = lock_chart(JOBSET)
    [file] = (tmp_path / "trainshed/charts").iterdir()
    file.write_bytes(file.read_bytes() + b"x")

    with pytest.raises(Failure, match=f"chart jobset: {file} has the digest sha256:.* the lock"):
        installer(api_server, JOBSET, locked)


def test_a_version_that_was_edited_in_the_lock_is_refused(api_server: ApiServer) -> None:
    locked = replace(lock_chart(JOBSET), version="0.99.0")

    with pytest.raises(Failure, match=r"locked is version 0\.12\.0, and the lock says 0\.99\.0"):
        installer(api_server, JOBSET, locked)


def test_a_chart_that_the_registry_lacks_is_refused(
    api_server: ApiServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    locked = replace(lock_chart(JOBSET), digest=f"sha256:{'0' * 64}")

    with pytest.raises(Failure, match="cannot pull oci://registry"):
        installer(api_server, JOBSET, locked)
