"""The volumes of a pod, as folders of this machine or memory.

Kubernetes, "Volumes": `emptyDir` is there as long as the pod, in memory with `medium: Memory`; a
`hostPath` is the node's; a claim is that of its PersistentVolume, here one with a path of the node;
ConfigMaps, Secrets, fields and tokens are files, which follow what they are of: the kubelet looks
every minute, and renews a token after 80% of its time. Inferred: a folder of the node is the
machine's where the node has none of its own. A memory without a size has half the machine's; here
1 GiB.
"""

import math
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded_aws.eks.pod_problems import Waits
from embedded_aws.eks.pod_values import field_of, read_data
from embedded_aws.hosts.container_mounts import Bound, Memory
from embedded_aws.hosts.node_folders import node_folder
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(|k|M|G|T|Ki|Mi|Gi|Ti)")
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    f"{letter}i": 1 << 10 * (power + 1) for power, letter in enumerate("KMGT")
}
_MIB = 1 << 20
_MEMORY_MIB = 1024
_EVERYONE = 0o777
_TOKEN_SECONDS = 3600
# Of its time, after which a token is renewed.
_TOKEN_SHARE = 0.8
# What the kubelet allows pods that ask for no volume at /dev/shm.
_SHARED_MEMORY = Memory(target="/dev/shm", mib=64)
_FILE_MODE, _READABLE = 0o644, 0o444
_Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A volume of a pod.

    Attributes:
        folder: with its files; None for one in memory.
        mib: size of one in memory.
        read_only: containers cannot write to it, whatever they ask for.
        mounted: its node mounts it.
    """

    folder: Path | None = None
    mib: int = 0
    read_only: bool = False
    mounted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file of a volume.

    Attributes:
        content: its bytes.
        mode: its permissions; None for those of its volume.
    """

    content: bytes
    mode: int | None = None


_Files = dict[str, _File]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFiles:
    """Where files of a node are on this machine.

    Attributes:
        root: folder with some, by their paths there.
        mounted: folders that are elsewhere, by their paths there.
    """

    root: Path
    mounted: Mapping[str, Path]


def make_volumes(
    client: ApiClient, pod: _Object, folder: Path, node: NodeFiles
) -> dict[str, Volume]:
    """Return a pod's volumes by name.

    Args:
        client: an administrator's.
        pod: it.
        folder: of the pod.
        node: its node's files.

    Raises:
        Waits: one cannot be had.
    """
    found = {
        each["name"]: _volume(client, pod, each, _folder(folder, each), node)
        for each in pod["spec"].get("volumes", [])
    }
    containers = (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"])
    for name in (each for each, volume in found.items() if volume.folder is None):
        if sum(name in _mounted(container) for container in containers) > 1:
            raise Waits(
                "ContainerCreating",
                f"the embedded AWS shares no memory between containers: volume {name}",
            )
    return found


def _mounted(container: _Object) -> set[str]:
    return {each["name"] for each in container.get("volumeMounts", [])}


def mounts(container: _Object, volumes: Mapping[str, Volume]) -> tuple[list[Bound], list[Memory]]:
    """Return what a container mounts of its pod's volumes.

    Args:
        container: of the pod's `spec`.
        volumes: of the pod.

    Raises:
        Waits: it is not done here.
    """
    bound, memory = [], [_SHARED_MEMORY]
    for each in container.get("volumeMounts", []):
        volume = volumes[each["name"]]
        if "subPathExpr" in each:
            raise Waits(
                "CreateContainerConfigError", "the embedded AWS does not know subPathExpr of mounts"
            )
        if volume.folder is None:
            memory.append(Memory(target=each["mountPath"], mib=volume.mib))
            continue
        source = (volume.folder / each.get("subPath", "")).resolve()
        if not source.is_relative_to(volume.folder.resolve()):
            # A container may have left a link there. The kubelet's words.
            raise Waits(
                "CreateContainerConfigError",
                f'failed to prepare subPath for volumeMount "{each["name"]}" of container '
                f'"{container["name"]}"',
            )
        if not volume.read_only and not source.exists():
            source.mkdir(parents=True)
            # From memory: as its volume's, by kubelets; else only root could write there.
            source.chmod(volume.folder.stat().st_mode)
        bound.append(
            Bound(
                source=str(source),
                target=each["mountPath"],
                read_only=volume.read_only or each.get("readOnly", False),
                mounted=volume.mounted,
            )
        )
    # One in place of the usual one at /dev/shm.
    return bound, [*{each.target: each for each in memory}.values()]


def _volume(
    client: ApiClient, pod: _Object, volume: _Object, folder: Path, node: NodeFiles
) -> Volume:
    [kind] = volume.keys() - {"name"} or {"emptyDir"}
    source = volume.get(kind) or {}
    if kind == "emptyDir" and source.get("medium") == "Memory":
        return Volume(mib=_mib(source.get("sizeLimit")))
    if kind == "hostPath":
        own = _of_node(source["path"], source.get("type", ""), folder, node)
        return Volume(folder=own, mounted=own in node.mounted.values())
    if kind == "persistentVolumeClaim":
        own = _of_claim(client, pod, source["claimName"], folder, node)
        return Volume(folder=own, mounted=own in node.mounted.values())
    if kind not in ("emptyDir", *_FILES):
        raise Waits(
            "ContainerCreating",
            f"the embedded AWS does not know the volume type {kind} of {volume['name']}",
        )
    folder.mkdir(exist_ok=True)
    folder.chmod(_EVERYONE)
    if kind in _FILES:
        _write_files(client, pod, volume, folder)
    return Volume(folder=folder, read_only=kind in _FILES)


def update_volumes(client: ApiClient, pod: _Object, folder: Path) -> None:
    """Let the files of a pod follow what they are of.

    Args:
        client: an administrator's.
        pod: it.
        folder: of the pod.
    """
    for each in pod["spec"].get("volumes", []):
        [kind] = each.keys() - {"name"} or {"emptyDir"}
        place = _folder(folder, each)
        # What is gone, or refused for now, leaves the files as they are.
        if kind in _FILES:
            with suppress(Waits, ApiRefusal):
                _write_files(client, pod, each, place)


def _folder(folder: Path, volume: _Object) -> Path:
    return folder / f"volume-{volume['name']}"


def _write_files(client: ApiClient, pod: _Object, volume: _Object, folder: Path) -> None:
    """Make a volume's files the only ones of its folder; each is replaced as a whole.

    API reference, PodSecurityContext, `fsGroup`: that group may read them; here everybody may, for
    containers do not have it.
    """
    [kind] = volume.keys() - {"name"}
    source = volume[kind]
    files: _Files = _FILES[kind](client, pod, source, folder)
    more = _READABLE if "fsGroup" in pod["spec"].get("securityContext", {}) else 0
    for path, wanted in files.items():
        file = folder / path
        if file.is_file() and file.read_bytes() == wanted.content:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.new")
        new.write_bytes(wanted.content)
        mode = source.get("defaultMode", _FILE_MODE) if wanted.mode is None else wanted.mode
        new.chmod(mode | more)
        new.replace(file)
    for file in [each for each in folder.rglob("*") if each.is_file()]:
        if str(file.relative_to(folder)) not in files:
            file.unlink()


def _of_node(path: str, kind: str, folder: Path, node: NodeFiles) -> Path:
    if found := node_folder(path, node.root, node.mounted):
        return found
    if kind in ("", "DirectoryOrCreate", "FileOrCreate"):
        folder.mkdir(exist_ok=True)
        return folder
    raise Waits("ContainerCreating", f"hostPath type check failed: {path} is not a {kind}")


def _of_claim(client: ApiClient, pod: _Object, claim: str, folder: Path, node: NodeFiles) -> Path:
    namespace = pod["metadata"]["namespace"]
    try:
        found = client.call("GET", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}")
        volume = client.call("GET", f"/api/v1/persistentvolumes/{found['spec']['volumeName']}")
    except (ApiRefusal, KeyError) as error:
        raise Waits("ContainerCreating", f"claim {claim} has no volume: {error}") from error
    for kind in ("local", "hostPath"):
        if source := volume["spec"].get(kind):
            return _of_node(source["path"], "", folder, node)
    raise Waits(
        "ContainerCreating",
        f"the embedded AWS attaches no volumes but those with a path: {claim} has another one",
    )


def _of_map(kind: str, named: str) -> Callable[[ApiClient, _Object, _Object, Path], _Files]:
    def files(client: ApiClient, pod: _Object, source: _Object, _: Path) -> _Files:
        data = read_data(client, pod, kind, source[named], source, binary=True)
        if items := source.get("items"):
            return {
                each["path"]: _File(content=data[each["key"]], mode=each.get("mode"))
                for each in items
                if each["key"] in data
            }
        return {name: _File(content=content) for name, content in data.items()}

    return files


def _fields(_: ApiClient, pod: _Object, source: _Object, __: Path) -> _Files:
    found = {}
    for each in source.get("items", []):
        path = each.get("fieldRef", {}).get("fieldPath", "of a resource")
        found[each["path"]] = _File(content=field_of(pod, path).encode(), mode=each.get("mode"))
    return found


def _token(client: ApiClient, pod: _Object, source: _Object, folder: Path) -> _Files:
    seconds, file = source.get("expirationSeconds", _TOKEN_SECONDS), folder / source["path"]
    if file.is_file() and time.time() - file.stat().st_mtime < _TOKEN_SHARE * seconds:
        return {source["path"]: _File(content=file.read_bytes())}
    metadata, spec = pod["metadata"], pod["spec"]
    audience = source.get("audience")
    bound = {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]}
    asked = {
        "audiences": [audience] if audience else [],
        "expirationSeconds": seconds,
        "boundObjectRef": bound,
    }
    path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/"
    given = client.call("POST", f"{path}{spec['serviceAccountName']}/token", {"spec": asked})
    return {source["path"]: _File(content=given["status"]["token"].encode())}


def _projected(client: ApiClient, pod: _Object, source: _Object, folder: Path) -> _Files:
    files: _Files = {}
    for each in source["sources"]:
        [kind] = each
        if kind not in _PROJECTED:
            raise Waits("ContainerCreating", f"the embedded AWS does not project a {kind}")
        files |= _PROJECTED[kind](client, pod, each[kind], folder)
    return files


_PROJECTED = {
    "configMap": _of_map("configMap", "name"),
    "secret": _of_map("secret", "name"),
    "downwardAPI": _fields,
    "serviceAccountToken": _token,
}
_FILES = {
    "configMap": _of_map("configMap", "name"),
    "secret": _of_map("secret", "secretName"),
    "downwardAPI": _fields,
    "projected": _projected,
}


def _mib(size: object) -> int:
    found = _QUANTITY.fullmatch(str(size or ""))
    return math.ceil(float(found[1]) * _UNITS[found[2]] / _MIB) if found else _MEMORY_MIB
