"""The update of the version of a cluster with a control plane, which has a node and a pod."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from eks_bench import EksBench
from job_bench import job_aws
from pod_bench import PodBench

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import CACHE_VARIABLE, built
from embedded_aws.kubernetes.modules import patch_of

pytestmark = pytest.mark.server
BEFORE, AFTER = "1.35", "1.36"


@pytest.fixture
def cache(
    built_kubernetes: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """A folder with the programs of the older version, and where they are."""
    programs = built(BEFORE)
    (tmp_path / programs.name).symlink_to(programs)
    newer = built(AFTER)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path, newer if newer.is_dir() else programs


@pytest.fixture
def aws(cache: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    folder = tmp_path_factory.mktemp("eks")
    with job_aws(folder, JobSettings(speed=3000), kubernetes=True) as found:
        yield found


def test_an_update_keeps_endpoint_nodes_and_pods(
    aws: EmbeddedAws, cache: tuple[Path, Path]
) -> None:
    bench = PodBench(aws)
    eks, before = bench.nodes.eks, bench.nodes.bench.described()
    name = bench.start(("sh", "-c", "while true; do sleep 1; done"))
    bench.until_begun(name)

    asked = {"name": bench.cluster, "version": AFTER}
    refused = bench.nodes.bench.refusal(eks.update_cluster_version, **asked)
    folder, programs = cache
    (folder / built(AFTER).name).symlink_to(programs)
    update = eks.update_cluster_version(**asked)["update"]
    after = bench.nodes.bench.until_settled()

    assert f"kubernetes prepare --kubernetes {AFTER}" in refused
    done = eks.describe_update(name=bench.cluster, updateId=update["id"])["update"]
    assert (done["status"], done["errors"]) == ("Successful", [])
    assert (before["version"], after["version"]) == (BEFORE, AFTER)
    assert before["endpoint"] == after["endpoint"]
    # Another version takes minutes to build. Where it is not, the programs are the older ones;
    # test_versions.py of the control plane has updates between those that are.
    running = bench.ask("GET", "/version")["gitVersion"]
    assert running == f"v{patch_of(programs.name.partition('-')[0])}"
    container = bench.container(name)
    assert (container["restartCount"], list(container["state"])) == (0, ["running"])
    # The kubelets go on with their own version, and with new pods.
    [node] = bench.ask("GET", "/api/v1/nodes")["items"]
    assert node["status"]["nodeInfo"]["kubeletVersion"].startswith(f"v{BEFORE}.")
    assert bench.until_over(bench.start(("true",)))["phase"] == "Succeeded"


def test_an_update_of_a_cluster_whose_api_server_did_not_start_fails(
    aws: EmbeddedAws, cache: tuple[Path, Path]
) -> None:
    folder, programs = cache
    (folder / built(BEFORE).name).unlink()
    broken = folder / built(BEFORE).name / "bin"
    broken.mkdir(parents=True)
    (broken / "etcd").symlink_to("/bin/false")
    (folder / built(AFTER).name).symlink_to(programs)
    bench = EksBench(aws)
    created = bench.create_cluster()

    update = bench.eks.update_cluster_version(name=bench.name, version=AFTER)["update"]
    after = bench.until_settled()

    done = bench.eks.describe_update(name=bench.name, updateId=update["id"])["update"]
    assert (created["status"], after["status"], after["version"]) == ("FAILED", "FAILED", BEFORE)
    [error] = done["errors"]
    assert (done["status"], error["errorCode"]) == ("Failed", "Unknown")
    assert error["errorMessage"] == "the API server of the cluster has not started"
