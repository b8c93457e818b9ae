"""The volumes of a pod, by what an API server answers."""

import os
import stat
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.eks.pod_problems import Waits
from embedded_aws.eks.pod_volumes import NodeFiles, Volume, make_volumes, mounts, update_volumes
from embedded_aws.kubernetes.client import ApiClient

_NO_TEXT = b"\xff\x00\xfe"


class Answers(ApiClient):
    """An API server with one ConfigMap and one Secret, which counts the tokens that it gives."""

    def __init__(self) -> None:
        text, no_text = b64encode(b"text").decode(), b64encode(_NO_TEXT).decode()
        self._found: dict[str, Any] = {
            "/api/v1/namespaces/default/configmaps/c": {
                "data": {"text": "text"},
                "binaryData": {"binary": no_text},
            },
            "/api/v1/namespaces/default/secrets/s": {"data": {"text": text, "binary": no_text}},
        }

        self._tokens = 0

    def call(self, method: str, path: str, *_: object, **__: object) -> Any:
        if method == "POST":
            assert path == "/api/v1/namespaces/default/serviceaccounts/a/token"
            self._tokens += 1
            return {"status": {"token": f"token {self._tokens}"}}
        return self._found[path]

    def change(self) -> None:
        self._found["/api/v1/namespaces/default/configmaps/c"] = {"data": {"text": "changed"}}


def pod(*volumes: object, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "one", "namespace": "default", "uid": "u"}
    status = {"podIP": "10.0.0.1"}
    return {
        "metadata": metadata,
        "spec": {"nodeName": "n", "containers": [], "volumes": volumes, **spec},
        "status": status,
    }


def made(folder: Path, *volumes: object, **spec: Any) -> dict[str, Volume]:
    node = NodeFiles(root=folder / "node", mounted={})
    return make_volumes(Answers(), pod(*volumes, **spec), folder, node)


def modes(volume: Volume) -> dict[str, int]:
    assert volume.folder is not None
    files = [each for each in volume.folder.rglob("*") if each.is_file()]
    return {
        str(each.relative_to(volume.folder)): stat.S_IMODE(each.stat().st_mode) for each in files
    }


@pytest.mark.parametrize(
    "volume", [{"configMap": {"name": "c"}}, {"secret": {"secretName": "s"}}], ids=str
)
def test_files_have_what_is_no_text(tmp_path: Path, volume: dict[str, object]) -> None:
    folder = made(tmp_path, {"name": "v", **volume})["v"].folder

    assert folder
    assert (folder / "binary").read_bytes() == _NO_TEXT
    assert (folder / "text").read_bytes() == b"text"


def test_files_have_the_mode_of_their_item_or_their_volume(tmp_path: Path) -> None:
    items = [{"key": "text", "path": "in/one", "mode": 0o755}, {"key": "binary", "path": "two"}]
    volumes = made(
        tmp_path,
        {"name": "usual", "configMap": {"name": "c"}},
        {"name": "own", "secret": {"secretName": "s", "defaultMode": 0o400, "items": items}},
    )

    assert modes(volumes["usual"]) == {"text": 0o644, "binary": 0o644}
    assert modes(volumes["own"]) == {"in/one": 0o755, "two": 0o400}


def test_the_group_of_a_pod_may_read_its_files(tmp_path: Path) -> None:
    source = {"secretName": "s", "defaultMode": 0o400}

    volumes = made(tmp_path, {"name": "v", "secret": source}, securityContext={"fsGroup": 1000})

    assert set(modes(volumes["v"]).values()) == {0o444}


def test_containers_can_write_to_no_files_of_the_api_server(tmp_path: Path) -> None:
    field = {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}
    volumes = made(
        tmp_path,
        {"name": "map", "configMap": {"name": "c"}},
        {"name": "fields", "downwardAPI": {"items": [field]}},
        {"name": "both", "projected": {"sources": [{"secret": {"name": "s"}}]}},
        {"name": "own", "emptyDir": {}},
    )
    mounted = [{"name": name, "mountPath": f"/{name}"} for name in volumes]

    bound, _ = mounts({"volumeMounts": mounted}, volumes)

    assert {each.target: each.read_only for each in bound} == {
        "/map": True,
        "/fields": True,
        "/both": True,
        "/own": False,
    }


def test_a_sub_path_that_is_not_there_is_made_for_every_user(tmp_path: Path) -> None:
    volumes = made(tmp_path, {"name": "v", "emptyDir": {}})
    mount = {"name": "v", "mountPath": "/v", "subPath": "a/b"}

    [bound], _ = mounts({"volumeMounts": [mount]}, volumes)

    assert bound.source.endswith("volume-v/a/b")
    assert Path(bound.source).is_dir()
    assert stat.S_IMODE(Path(bound.source).stat().st_mode) == 0o777


def test_a_sub_path_that_leads_out_of_its_volume_waits(tmp_path: Path) -> None:
    """An init container may have left such a link."""
    volumes = made(tmp_path, {"name": "v", "emptyDir": {}})
    assert volumes["v"].folder
    (volumes["v"].folder / "link").symlink_to("/")
    mount = {"name": "v", "mountPath": "/v", "subPath": "link/etc"}

    said = 'failed to prepare subPath for volumeMount "v" of container "one"'
    with pytest.raises(Waits, match=said):
        mounts({"name": "one", "volumeMounts": [mount]}, volumes)


def test_a_sub_path_by_variables_waits(tmp_path: Path) -> None:
    volumes = made(tmp_path, {"name": "v", "emptyDir": {}})
    mount = {"name": "v", "mountPath": "/v", "subPathExpr": "$(POD)"}

    with pytest.raises(Waits, match="does not know subPathExpr of mounts"):
        mounts({"volumeMounts": [mount]}, volumes)


def test_memory_of_two_containers_waits(tmp_path: Path) -> None:
    memory = {"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}}
    container = {"volumeMounts": [{"name": "m", "mountPath": "/m"}]}

    assert made(tmp_path, memory, containers=[container])["m"] == Volume(mib=8)
    with pytest.raises(Waits, match="shares no memory between containers: volume m"):
        made(tmp_path, memory, containers=[container, container])
    with pytest.raises(Waits, match="shares no memory between containers: volume m"):
        made(tmp_path, memory, containers=[container], initContainers=[container])


def test_projected_files_follow_their_objects_and_a_token_is_renewed_in_time(
    tmp_path: Path,
) -> None:
    """API reference, ServiceAccountTokenProjection: after 80 percent of its time."""
    token = {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}
    sources = [token, {"configMap": {"name": "c", "items": [{"key": "text", "path": "text"}]}}]
    served = Answers()
    asked = pod({"name": "v", "projected": {"sources": sources}}, serviceAccountName="a")
    found = make_volumes(served, asked, tmp_path, NodeFiles(root=tmp_path, mounted={}))
    folder = found["v"].folder
    assert folder

    def files() -> tuple[str, str]:
        update_volumes(served, asked, tmp_path)
        return (folder / "token").read_text(), (folder / "text").read_text()

    served.change()
    assert files() == ("token 1", "changed")
    for age, expected in ((470, "token 1"), (490, "token 2")):
        then = time.time() - age
        os.utime(folder / "token", (then, then))
        assert files()[0] == expected
