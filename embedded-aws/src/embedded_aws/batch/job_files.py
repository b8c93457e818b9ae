"""In which files a job's command runs: those of its image, or this machine's own.

Docker's documentation: the job's command takes the place of the image's own, and follows its
entrypoint; its user and variables precede the image's; PATH is there in any case; a host volume is
an empty folder if the host has none. Batch API reference: sharedMemorySize and the sizes of tmpfs
are in MiB. From memory: the words without a command. Inferred: a volume's folder is the node's
where it has one, or this machine's, so that nodes can share it, and otherwise an empty one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.batch.job_images import find_image
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.ec2.instance_files import SYS_CLASS, VARIABLE
from embedded_aws.ecr.layer_store import layer_store
from embedded_aws.ecr.stored_images import NotReadable
from embedded_aws.hosts.container import Container
from embedded_aws.hosts.container_mounts import Bound, Files, Memory
from embedded_aws.hosts.environment import own_path
from embedded_aws.hosts.image_files import ImageFiles, Unpacked, containers_unavailable

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SHARED_MEMORY_MIB = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFiles:
    """Where and how a command runs.

    Attributes:
        said: which files these are, for the log.
        words: program and arguments.
        variables: those that come before all others.
        container: None for this machine's own files.
    """

    said: str
    words: Sequence[str]
    variables: Mapping[str, str]
    container: Container | None = None


def job_files(
    call: Call,
    properties: Mapping[str, Any],
    images: ImageFiles,
    folder: Path,
    root: Path,
    mounted: Mapping[str, Path],
) -> JobFiles:
    """Return where a command runs.

    Args:
        call: of the job's account and region.
        properties: of its container.
        images: unpacked on this machine.
        folder: of the container.
        root: folder with files of the node, by their paths there.
        mounted: folders of the node that are elsewhere on this machine, by their paths there.

    Raises:
        TaskRefused: the image cannot be pulled, or there is no command.
    """
    uri, words = properties["image"], properties["command"]
    found = find_image(call, uri)
    if found.stored is None:
        return _own_files(uri, words, folder, root, found.absence)
    if why := containers_unavailable() or _no_registry():
        return _own_files(uri, words, folder, root, why)
    try:
        image = images.unpacked(found.stored)
        below = images.place(image, folder)
    except NotReadable as problem:
        raise TaskRefused(
            f"CannotPullContainerError: Error response from daemon: {problem}"
        ) from problem
    words = [*(image.config.get("Entrypoint") or []), *(words or image.config.get("Cmd") or [])]
    if not words:
        raise TaskRefused(
            "CannotCreateContainerError: Error response from daemon: no command specified"
        )
    return JobFiles(
        said=f"in the file system of image {uri.partition('@')[0]}@{found.stored.digest}",
        words=words,
        variables={"PATH": _PATH, **dict(_pair(each) for each in image.config.get("Env") or [])},
        container=_container(properties, image, below, folder, root, mounted),
    )


def _own_files(uri: str, words: Sequence[str], folder: Path, root: Path, why: str) -> JobFiles:
    if not words:
        raise TaskRefused(
            "CannotStartContainerError: the embedded AWS does not know the command of image "
            f"{uri}: {why}; give the job a command"
        )
    # Beside the folder in which the command begins, which is empty.
    temporary = folder.with_name(f"{folder.name}-tmp")
    temporary.mkdir()
    return JobFiles(
        said=f"on this machine's own files, not in {uri}: {why}",
        words=words,
        variables={
            "PATH": own_path(),
            "HOME": str(folder),
            # What a killed command leaves goes away with its container, as on AWS.
            "TMPDIR": str(temporary),
            VARIABLE: str(root),
        },
    )


def _no_registry() -> str | None:
    return None if layer_store() else "the embedded AWS has no --registry with its layers"


def _pair(variable: str) -> tuple[str, str]:
    name, _, value = variable.partition("=")
    return name, value


def _container(
    properties: Mapping[str, Any],
    image: Unpacked,
    below: str | None,
    folder: Path,
    root: Path,
    mounted: Mapping[str, Path],
) -> Container:
    linux = properties.get("linuxParameters", {})
    shared = linux.get("sharedMemorySize", _SHARED_MEMORY_MIB)
    memory = [Memory(target="/dev/shm", mib=shared)]
    memory += [
        Memory(target=each["containerPath"], mib=each["size"]) for each in linux.get("tmpfs", [])
    ]
    files = Files(
        image=below,
        folder=str(folder),
        bound=[*_volumes(properties, folder, root, mounted), *_devices(linux)],
        memory=memory,
        sys_class=str(root / SYS_CLASS),
        read_only=properties.get("readonlyRootFilesystem", False),
    )
    return Container(
        files=files,
        user=properties.get("user") or image.config.get("User") or "",
        folder=image.config.get("WorkingDir") or "/",
        privileged=properties.get("privileged", False),
        init=linux.get("initProcessEnabled", False),
    )


def _volumes(
    properties: Mapping[str, Any], folder: Path, root: Path, mounted: Mapping[str, Path]
) -> list[Bound]:
    sources = {}
    for number, volume in enumerate(properties.get("volumes", [])):
        path = volume.get("host", {}).get("sourcePath", "")
        own = root / path.lstrip("/")
        source = mounted.get(path, own if path and own.exists() else Path(path))
        if not (source.is_absolute() and source.exists()):
            source = folder / f"volume-{number}"
            source.mkdir()
        sources[volume["name"]] = str(source)
    return [
        Bound(
            source=sources[mount["sourceVolume"]],
            target=mount["containerPath"],
            read_only=mount.get("readOnly", False),
        )
        for mount in properties.get("mountPoints", [])
    ]


def _devices(linux: Mapping[str, Any]) -> list[Bound]:
    """Return the devices of a container that this machine has."""
    return [
        Bound(source=each["hostPath"], target=each.get("containerPath") or each["hostPath"])
        for each in linux.get("devices", [])
        if Path(each["hostPath"]).exists()
    ]
