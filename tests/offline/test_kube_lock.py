"""`trainshed kube lock`: what it writes, and what clusters make of it."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
from command_line import Answer, runner
from lightkube.resources.core_v1 import ConfigMap

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.kubernetes.cache import unavailable
from trainshed.cli import main
from trainshed.kubernetes.objects import cluster_objects
from trainshed.orchestrators import part
from trainshed.plan import load_fleet
from trainshed.spec import SpecError

pytestmark = pytest.mark.server

CLUSTER = """name: LockCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 2}}
kubernetes:
  version: "1.35"
  access: [{role: MachineLearning}]
"""
ADD_ONS = {
    *("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns"),
    *("eks-node-monitoring-agent", "amazon-cloudwatch-observability"),
}


@pytest.fixture
def lock(
    two_regions: EmbeddedAws,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Answer]:
    """Run the command on a cluster file that is in an empty folder."""
    # The embedded AWS has the charts of what is built.
    if reason := unavailable():
        pytest.skip(reason)
    run = runner("trainshed", main, capsys, monkeypatch)
    two_regions.lead_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("lock.yaml").write_text(CLUSTER)
    return partial(run, "kube", "lock", "lock.yaml")


def defaults(aws: EmbeddedAws, kubernetes: str) -> dict[str, str]:
    """Return the version of each add-on that EKS takes by default."""
    found = aws.client("eks").describe_addon_versions(kubernetesVersion=kubernetes)["addons"]
    return {
        add_on["addonName"]: version["addonVersion"]
        for add_on in found
        for version in add_on["addonVersions"]
        if add_on["addonName"] in ADD_ONS and version["compatibilities"][0]["defaultVersion"]
    }


def content() -> Any:
    return json.loads(Path("lock.lock.json").read_text())


def test_add_ons_are_locked_to_the_default_of_the_clusters_kubernetes(
    lock: Callable[..., Answer], two_regions: EmbeddedAws
) -> None:
    answer = lock()

    assert answer.code == 0, answer.err
    wanted = defaults(two_regions, "1.35")
    assert wanted.keys() == ADD_ONS
    assert wanted != defaults(two_regions, "1.36")
    assert (content()["kubernetes"], content()["add_ons"]) == ("1.35", wanted)
    assert f"add-on coredns: new -> {wanted['coredns']}" in answer.out
    assert "lock.lock.json is written; commit it" in answer.out


def test_charts_are_locked_by_the_digest_that_the_registry_has(
    lock: Callable[..., Answer], two_regions: EmbeddedAws
) -> None:
    answer = lock()

    locked = content()["charts"]
    assert locked.keys() == {"jobset", "kueue"}
    repository = "registry.k8s.io/jobset/charts/jobset"
    manifest = requests.get(
        f"{two_regions.endpoint}/v2/chart--mirror/{repository}/manifests/0.12.0"
    )
    digest = manifest.headers["Docker-Content-Digest"]
    assert locked["jobset"] == {
        "oci": f"oci://{repository}",
        "version": "0.12.0",
        "digest": digest,
        "archive": manifest.json()["layers"][0]["digest"],
    }
    assert f"chart jobset: new -> 0.12.0 {digest}" in answer.out
    [cluster] = load_fleet([Path("lock.yaml")]).clusters
    said = {each.field: (each.value, each.reason) for each in cluster.decisions}
    assert said["chart jobset"] == ("0.12.0", f"lock.lock.json has it, with digest {digest}")
    # What a review compares.
    objects = cluster_objects(part(cluster.orchestrator, "kubernetes").planned_objects(cluster))
    [record] = (each for each in objects if isinstance(each, ConfigMap))
    assert record.data
    assert record.data["chart.jobset"] == f"0.12.0 {digest}"


def test_a_release_that_has_changed_since_it_was_locked_is_refused(
    lock: Callable[..., Answer],
) -> None:
    lock()
    other = content()
    other["charts"]["kueue"]["digest"] = f"sha256:{'0' * 64}"
    Path("lock.lock.json").write_text(json.dumps(other))

    refused = lock()

    assert refused.code == 1
    assert "chart kueue 0.19.2 of oci://registry.k8s.io/kueue/charts/kueue has the digest" in (
        refused.err
    )
    assert "to take it all the same, delete the entry from the lock" in refused.err
    assert content() == other


@pytest.mark.parametrize(
    ("mirror", "said"),
    [
        ("registry.example", "OCI_CHART_MIRROR is 'registry.example', which is no URL"),
        ("http://127.0.0.1:9", "cannot pull oci://registry.k8s.io/jobset/charts/jobset: "),
    ],
)
def test_a_mirror_that_is_none_is_said(
    lock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, mirror: str, said: str
) -> None:
    monkeypatch.setenv("OCI_CHART_MIRROR", mirror)

    refused = lock()

    assert refused.code == 1
    assert said in refused.err
    assert not Path("lock.lock.json").exists()


def test_a_second_time_only_what_differs_is_changed_and_said(lock: Callable[..., Answer]) -> None:
    lock()
    first = content()
    again = lock()
    unchanged = content()
    older = {**first["add_ons"], "coredns": "v1.1.1-eksbuild.1"}
    Path("lock.lock.json").write_text(json.dumps({**first, "add_ons": older}))
    changed = lock("--json")

    assert again.out == "lock.lock.json is as it was\n"
    assert unchanged == first
    assert changed.json == [
        {
            "name": "add-on coredns",
            "before": "v1.1.1-eksbuild.1",
            "after": first["add_ons"]["coredns"],
        }
    ]
    assert content() == first


def test_the_stack_takes_the_locked_versions_and_no_other(
    lock: Callable[..., Answer], synthesise: Callable[..., Path]
) -> None:
    lock()
    locked = content()
    del locked["add_ons"]["kube-proxy"]
    Path("lock.lock.json").write_text(json.dumps(locked))
    fleet = load_fleet([Path("lock.yaml")])

    template = json.loads(
        (synthesise(fleet) / "LockControlPlane.template.json").read_text(encoding="utf-8")
    )

    found = {
        each["Properties"]["AddonName"]: each["Properties"].get("AddonVersion")
        for each in template["Resources"].values()
        if each["Type"] == "AWS::EKS::Addon"
    }
    assert found == {**locked["add_ons"], "kube-proxy": None}
    said = {each.field: (each.value, each.reason) for each in fleet.clusters[0].decisions}
    assert said["add-on coredns"] == (locked["add_ons"]["coredns"], "lock.lock.json has it")
    assert said["add-on kube-proxy"] == (
        "the version that EKS takes by default",
        "lock.lock.json lacks it",
    )


def test_a_lock_of_another_kubernetes_is_refused_until_it_is_written_anew(
    lock: Callable[..., Answer], two_regions: EmbeddedAws
) -> None:
    lock()
    Path("lock.yaml").write_text(CLUSTER.replace("1.35", "1.36"))

    refused = lock()
    Path("lock.lock.json").unlink()
    written = lock()

    assert refused.code == 2
    assert "is 1.36, and lock.lock.json is for 1.35" in refused.err
    assert "delete that file and run: trainshed kube lock LockCluster" in refused.err
    assert written.code == 0
    assert content()["add_ons"] == defaults(two_regions, "1.36")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Invalid JSON"),
        ('{"kubernetes": "1.35"}', "add_ons: Field required"),
        ('{"kubernetes": "1.35", "add_ons": {"coredns": "newest"}}', "add_ons.coredns: "),
        ('{"kubernetes": "1.35", "add_ons": {}, "chart": {}}', "chart: "),
        ('{"kubernetes": "1.35", "add_ons": {}, "charts": {"jobset": {}}}', "charts.jobset.oci: "),
        ('{"kubernetes": 1.35, "add_ons": {}}', "kubernetes: "),
    ],
)
def test_a_file_that_is_no_lock_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "lock.yaml").write_text(CLUSTER)
    (tmp_path / "lock.lock.json").write_text(text)

    with pytest.raises(SpecError) as error:
        load_fleet([tmp_path / "lock.yaml"])

    assert f"is no lock of a control plane: {said}" in str(error.value)
    assert "or delete it and run: trainshed kube lock LockCluster" in str(error.value)


def test_a_lock_is_left_as_it_is_when_aws_refuses(
    lock: Callable[..., Answer], two_regions: EmbeddedAws
) -> None:
    lock()
    before = content()
    # The third add-on of six.
    two_regions.fail(
        Fault(
            service="eks",
            operation="*",
            code="InvalidParameterException",
            after=2,
        )
    )
    try:
        refused = lock()
    finally:
        two_regions.fail()

    assert refused.code == 1
    assert "A fault on purpose" in refused.err
    assert content() == before
    assert sorted(each.name for each in Path().iterdir()) == ["lock.lock.json", "lock.yaml"]


def test_a_folder_that_cannot_be_written_is_said(
    lock: Callable[..., Answer],
) -> None:
    # Also for root, who may write everywhere: what stands where the new file is written.
    Path(".lock.lock.json.new").mkdir()

    refused = lock()

    assert refused.code == 1
    assert "lock.lock.json cannot be written: Is a directory" in refused.err
