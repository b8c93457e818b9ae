"""The container of a job: its share of the node."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPlan:
    """What the container of one node gets.

    Attributes:
        vcpus: all of the node's.
        memory_mib: what the node can give, in MiB.
        gpus: NVIDIA GPUs, as Batch's GPU requirement; 0 for other accelerators.
        devices: host device files, each with read, write and mknod.
        shared_memory_mib: size of /dev/shm in MiB.
        environment: variables.
        folders: folders of the node that it sees under the same path, by the volume's name.
    """

    vcpus: int
    memory_mib: int
    gpus: int
    devices: tuple[str, ...]
    shared_memory_mib: int
    environment: Mapping[str, str]
    folders: Mapping[str, str]
