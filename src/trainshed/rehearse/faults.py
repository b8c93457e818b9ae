"""Faults that a rehearsal injects, and what must then be seen.

The part `faults` of an orchestrator has its own: `FAULTS`, `WITHOUT` with why it has not the others
where that is not plain, `child_processes` for those that hit the processes of a child, and
`job_image` where jobs run in containers.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.hosts.network import namespaces_unavailable
from embedded_aws.hosts.user_namespace import entering
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.model import Job
from trainshed.orchestrators import Orchestrator, part


class FaultKind(StrEnum):
    """What goes wrong."""

    LATE_MAIN_NODE = "late-main-node"
    CHILD_NEVER_STARTS = "child-never-starts"
    KILL_CHILD = "kill-child"
    CUT_NETWORK = "cut-network"
    TERMINATE_HOST = "terminate-host"
    INSUFFICIENT_CAPACITY = "insufficient-capacity"
    MISSING_LOG_GROUP = "missing-log-group"
    MISSING_IMAGE = "missing-image"
    MISSING_DEVICE = "missing-device"
    LOST_DEVICE = "lost-device"
    CHANGED_AMI = "changed-ami"
    FULL_STORAGE = "full-storage"
    UNFIT_NODE = "unfit-node"
    SPOT_INTERRUPTION = "spot-interruption"
    REBALANCE = "rebalance"
    BLOCK_END = "block-end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A deployed cluster, to which a job is about to be submitted.

    Attributes:
        aws: where it is, and nothing else.
        region: that it is in, by whose credentials the job is submitted.
        cluster: its name.
        outputs: of its stack.
        nodes: of the job.
    """

    aws: EmbeddedAws
    region: Region
    cluster: str
    outputs: Mapping[str, str]
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """A fault.

    Attributes:
        expected: what must then be seen.
        before: done before the job is submitted.
        during: done to the processes of the child's command, once the main node has printed a
            line.
        shows: says whether a job that waits shows it. That job would wait for hours, or for ever:
            the rehearsal says why it waits, and ends it. With `during`, the job may end before.
        wrap: changes the command of every node.
        of_child: it hits a child, which a job of one node has not.
    """

    expected: str
    before: Callable[[Scene], None] | None = None
    during: Callable[[EmbeddedAws, str, Sequence[psutil.Process]], None] | None = None
    shows: Callable[[Job], bool] | None = None
    wrap: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None
    of_child: bool = False


# The child that a fault hits.
CHILD = 1
LATE_SECONDS = 30
# Until the end of a node that EC2 takes back: a quarter of the two minutes that it has on AWS.
NOTICE_SECONDS = 30
# From the warning that a Capacity Block ends to the end of its nodes: AWS has ten minutes.
BLOCK_SECONDS = 10
# What EC2 says of a launch that it has no instances for.
NO_CAPACITY = Fault(
    service="ec2",
    operation="RunInstances",
    code="InsufficientInstanceCapacity",
    message="We currently do not have sufficient capacity in the Availability Zone you requested.",
    count=None,
)
FULL_EXPECTED = (
    "the command fails when it writes, for instance a checkpoint, and job why says that the "
    "storage is full (TS-JOB-039)"
)
# The folder of the embedded AWS for what file systems of EFS and FSx hold.
_SHARED = "/shared-storage/"
_WRAPPED = 'if [ "${variable}" = {index} ]; then {first}; fi; exec "$@"'


def late_main_node(variable: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command that begins later on the main node.

    Args:
        variable: by which a node knows its number.
        command: of every node.
    """
    script = _WRAPPED.format(variable=variable, index=0, first=f"sleep {LATE_SECONDS}")
    return ("sh", "-c", script, "late", *command)


def child_never_starts(variable: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command that never begins on the child; the arguments are as of `late_main_node`."""
    script = _WRAPPED.format(variable=variable, index=CHILD, first="exec sleep 86400")
    return ("sh", "-c", script, "never", *command)


def kill(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Kill processes, as the kernel does that has no memory left."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)


def cut_network(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Cut the network in which processes are, which is not this machine's."""
    process = processes[0]
    assert not _network(process.pid).samefile(_network(os.getpid()))
    subprocess.run([*entering(process.pid, "net"), "ip", "link", "set", "eth0", "down"], check=True)


def fill_storage(processes: Sequence[psutil.Process]) -> None:
    """Have nodes see storage without room in the place of what they share.

    Args:
        processes: of all nodes of a job.

    Raises:
        TrainshedError: they share none.
    """
    nodes: dict[Path, psutil.Process] = {}
    # The oldest of each node: others may end now.
    for each in sorted(processes, key=lambda process: process.pid):
        with suppress(OSError):
            nodes.setdefault(Path(f"/proc/{each.pid}/ns/mnt").readlink(), each)
    for process in nodes.values():
        # proc_pid_mountinfo(5): the fourth field is what is mounted, the fifth where.
        mounts = [
            line.split()[3:5]
            for line in Path(f"/proc/{process.pid}/mountinfo").read_text().splitlines()
        ]
        shared = [where for what, where in mounts if _SHARED in what]
        if not shared:
            raise TrainshedError(
                f"--fault {FaultKind.FULL_STORAGE}: the nodes share no storage; give the cluster "
                "storage, for instance storage: {lustre: {}}, or leave the fault out"
            )
        for where in shared:
            full = ["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=1,mode=1777", "none", where]
            subprocess.run([*entering(process.pid, "mount"), *full], check=True)


def copy_ami(aws: EmbeddedAws, ami: str) -> str:
    """Return a copy of an AMI, by another name."""
    ec2 = aws.client("ec2")
    [found] = ec2.describe_images(ImageIds=[ami])["Images"]
    copied = ec2.copy_image(
        SourceImageId=ami, SourceRegion=aws.settings.regions[0], Name=f"{found['Name']}-next"
    )
    return str(copied["ImageId"])


def _network(pid: int) -> Path:
    return Path(f"/proc/{pid}/ns/net")


def processes_with(aws: EmbeddedAws, variable: str, value: str) -> list[psutil.Process]:
    """Return the processes of jobs in whose environment a variable has a value."""
    found = []
    for process in psutil.Process(aws.server.process.pid).children(recursive=True):
        with suppress(psutil.Error):
            if process.environ().get(variable) == value:
                found.append(process)
    return found


def check_on_spot(fault: FaultKind, scene: Scene) -> None:
    """Refuse nodes that EC2 does not take back.

    Args:
        fault: that needs such nodes.
        scene: in which it is to happen.

    Raises:
        TrainshedError: they are not on Spot.
    """
    nodes = [
        node
        for part in scene.region.pages(
            "ec2",
            "describe_instances",
            "Reservations",
            Filters=[{"Name": f"tag:{CLUSTER_TAG}", "Values": [scene.cluster]}],
        )
        for node in part["Instances"]
    ]
    if not any(node.get("InstanceLifecycle") == "spot" for node in nodes):
        raise TrainshedError(
            f"--fault {fault}: the nodes of {scene.cluster} are not on Spot; "
            "set capacity: {spot: {}} in its file, or leave the fault out"
        )


def check_in_block(scene: Scene) -> None:
    """Refuse nodes that are in no Capacity Block.

    Args:
        scene: in which the block is to end.

    Raises:
        TrainshedError: the cluster has none.
    """
    if not _blocks(scene.aws):
        raise TrainshedError(
            f"--fault {FaultKind.BLOCK_END}: the nodes of {scene.cluster} are in no Capacity "
            "Block; set capacity: {capacity_block: cr-...} in its file, or leave the fault out"
        )


def end_block(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Have the Capacity Block end in which the nodes are, which all go."""
    [block] = _blocks(aws)
    aws.end_block(block, seconds=BLOCK_SECONDS)


def _blocks(aws: EmbeddedAws) -> list[str]:
    """Return the Capacity Blocks that have begun."""
    active = {"Name": "state", "Values": ["active"]}
    found = aws.client("ec2").describe_capacity_reservations(Filters=[active])
    return [
        each["CapacityReservationId"]
        for each in found["CapacityReservations"]
        if each["ReservationType"] == "capacity-block"
    ]


def _kinds_during() -> list[FaultKind]:
    """Return the faults that happen while a job runs, of all orchestrators."""
    return [
        kind
        for kind in FaultKind
        if any(kind in _faults(name) and _faults(name)[kind].during for name in Orchestrator)
    ]


def find_fault(kind: FaultKind, orchestrator: Orchestrator, cluster: str) -> Behaviour:
    """Return a fault of a cluster.

    Raises:
        TrainshedError: it is one of another orchestrator.
    """
    found = _faults(orchestrator).get(kind)
    if found is None:
        others = ", ".join(each for each in Orchestrator if kind in _faults(each))
        why = part(orchestrator, "faults").WITHOUT.get(kind)
        raise TrainshedError(
            f"--fault {kind}: it is for orchestrator {others}, and {cluster} has orchestrator "
            f"{orchestrator}{f', where {why}' if why else ''}; leave it out"
        )
    return found


def _faults(orchestrator: Orchestrator) -> Mapping[FaultKind, Behaviour]:
    found: Mapping[FaultKind, Behaviour] = part(orchestrator, "faults").FAULTS
    return found


def check_possible(fault: FaultKind | None, *, loopback: bool, after: str | None = None) -> None:
    """Refuse a fault that this machine cannot have, or not then.

    Raises:
        TrainshedError: it needs network namespaces, or does not happen after a line.
    """
    waiting = _kinds_during()
    if after is not None and fault not in waiting:
        raise TrainshedError(f"--fault-after is for the faults {', '.join(waiting)}; leave it out")
    reason = "leave out --loopback" if loopback else namespaces_unavailable()
    if fault in (FaultKind.CUT_NETWORK, FaultKind.FULL_STORAGE) and reason:
        raise TrainshedError(f"{fault} needs nodes with networks of their own: {reason}")
