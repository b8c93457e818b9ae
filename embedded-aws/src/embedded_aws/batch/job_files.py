"""In which files a job's command runs, as ECS has Docker start its container.

Docker's documentation: a host volume is an empty folder if the host has none. Batch API reference:
sharedMemorySize and the sizes of tmpfs are in MiB. From memory: the words without a command.
Inferred: a volume's folder is the node's where it has one, or this machine's, so that nodes can
share it, and otherwise an empty one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.hosts.command_files import CommandFiles, NoCommand, WantedContainer, command_files
from embedded_aws.hosts.container_mounts import Bound, Memory
from embedded_aws.hosts.found_images import NotPulled
from embedded_aws.hosts.image_files import ImageFiles
from embedded_aws.hosts.node_folders import node_folder

_SHARED_MEMORY_MIB = 64


def job_files(
    call: Call,
    properties: Mapping[str, Any],
    images: ImageFiles,
    folder: Path,
    root: Path,
    mounted: Mapping[str, Path],
) -> CommandFiles:
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
    linux = properties.get("linuxParameters", {})
    shared = linux.get("sharedMemorySize", _SHARED_MEMORY_MIB)
    memory = [Memory(target="/dev/shm", mib=shared)]
    memory += [
        Memory(target=each["containerPath"], mib=each["size"]) for each in linux.get("tmpfs", [])
    ]
    wanted = WantedContainer(
        image=properties["image"],
        arguments=properties["command"],
        user=properties.get("user") or "",
        bound=[*_volumes(properties, folder, root, mounted), *_devices(linux)],
        memory=memory,
        read_only=properties.get("readonlyRootFilesystem", False),
        privileged=properties.get("privileged", False),
        init=linux.get("initProcessEnabled", False),
    )
    try:
        return command_files(call, wanted, images, folder, root)
    except NotPulled as problem:
        raise TaskRefused(
            f"CannotPullContainerError: Error response from daemon: {problem}"
        ) from problem
    except NoCommand as problem:
        if said := str(problem):
            raise TaskRefused(f"CannotStartContainerError: {said}") from problem
        raise TaskRefused(
            "CannotCreateContainerError: Error response from daemon: no command specified"
        ) from problem


def _volumes(
    properties: Mapping[str, Any], folder: Path, root: Path, mounted: Mapping[str, Path]
) -> list[Bound]:
    sources, of_node = {}, set()
    for number, volume in enumerate(properties.get("volumes", [])):
        path = volume.get("host", {}).get("sourcePath", "")
        source = node_folder(path, root, mounted)
        if source is None:
            source = folder / f"volume-{number}"
            source.mkdir()
        sources[volume["name"]] = str(source)
        if path in mounted:
            of_node.add(volume["name"])
    return [
        Bound(
            source=sources[mount["sourceVolume"]],
            target=mount["containerPath"],
            read_only=mount.get("readOnly", False),
            mounted=mount["sourceVolume"] in of_node,
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
