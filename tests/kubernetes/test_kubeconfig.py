"""The kubeconfig that is written, as kubectl itself reads it."""

import json
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.kubeconfig import kubeconfig_file, write_context

CLUSTER = EksCluster(
    name="train",
    region=Region("us-west-2"),
    endpoint="https://example.eks.amazonaws.com",
    authority=b64encode(b"certificate").decode(),
)
OTHER = """# mine
apiVersion: v1
kind: Config
current-context: mine  # for work
clusters: [{name: mine, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: mine, user: {token: secret}}]
contexts: [{name: mine, context: {cluster: mine, user: mine}}]
"""


def write(file: Path, profile: str | None = None, cluster: EksCluster = CLUSTER) -> None:
    write_context(file, cluster, context="ours", namespace="jobs", profile=profile)


def kubectl(file: Path, *arguments: str) -> Any:
    """Return what kubectl, a client that nobody here wrote, makes of a file."""
    command = ["kubectl", "--kubeconfig", str(file), "config", *arguments, "--output", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_kubectl_reads_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config"

    write(file, profile="work")

    seen = kubectl(file, "view", "--raw", "--minify")
    [cluster], [user], [context] = seen["clusters"], seen["users"], seen["contexts"]
    assert cluster["cluster"]["server"] == CLUSTER.endpoint
    assert cluster["cluster"]["certificate-authority-data"] == CLUSTER.authority
    assert context["context"] == {"cluster": "ours", "user": "ours", "namespace": "jobs"}
    asks = user["user"]["exec"]
    assert asks["command"] == sys.executable
    assert asks["args"][-4:] == ["--cluster", "train", "--region", "us-west-2"]
    assert asks["env"] == [{"name": "AWS_PROFILE", "value": "work"}]
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_else_is_in_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(OTHER)

    write(file)

    seen = kubectl(file, "view", "--raw")
    assert [each["name"] for each in seen["users"]] == ["mine", "ours"]
    assert seen["users"][0]["user"] == {"token": "secret"}
    assert seen["current-context"] == "ours"
    assert "# mine" in file.read_text()


def test_the_same_cluster_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "config"
    write(file)

    write(file)
    once = file.read_text()
    write(file)

    assert file.read_text() == once
    assert len(kubectl(file, "view", "--raw")["contexts"]) == 1


def test_a_link_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "config", tmp_path / "link"
    file.write_text(OTHER)
    link.symlink_to(file)

    write(link)

    assert link.is_symlink()
    assert "ours" in file.read_text()


@pytest.mark.parametrize(
    "text", ["[1, 2]", "a: [", "kind: Pod\n", "clusters: {}\n", "clusters: [1]\n", "text"]
)
def test_a_file_that_is_no_kubeconfig_is_not_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)

    with pytest.raises(TrainshedError, match="is not a kubeconfig"):
        write(file)

    assert file.read_text() == text
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        pytest.param({"HOME": "/home/me"}, "/home/me/.kube/config", id="default"),
        pytest.param({"HOME": "/home/me", "KUBECONFIG": "/a:/b"}, "/a", id="first"),
        pytest.param({"HOME": "/home/me", "KUBECONFIG": ":/b"}, "/b", id="empty-part"),
    ],
)
def test_the_file_is_the_one_that_kubectl_writes(environment: dict[str, str], file: str) -> None:
    assert kubeconfig_file(environment) == Path(file)
