"""Faults that a rehearsal injects, and what must then be seen."""

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
from trainshed.errors import TrainshedError

# The child that a fault hits.
_CHILD = 1
# Of a main node, and of a child: what its shell does before its command.
_WRAPPED = 'if [ "$AWS_BATCH_JOB_NODE_INDEX" = {index} ]; then {first}; fi; exec "$@"'
_LATE_SECONDS = 30
# The instance that the child has first lacks its devices, for as long as it is there. There the
# variable says what our images for accelerators say, whichever it is: trainshed-launch then looks
# for the devices that the job definition counts on.
_LACKS_DEVICES = """
if [ "$AWS_BATCH_JOB_NODE_INDEX:$AWS_BATCH_JOB_ATTEMPT" = {index}:1 ]; then
  touch "$EMBEDDED_AWS_NODE/lacks-devices"
fi
if [ -e "$EMBEDDED_AWS_NODE/lacks-devices" ]; then export TRAINSHED_ACCELERATOR=any; fi
exec "$@"
"""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """A fault.

    Attributes:
        expected: what must then be seen.
        before: done before the job is submitted.
        during: done to the processes of the child's command, once the main node has printed a
            line.
        wrap: changes the command of every node.
        of_child: it hits a child, which a job of one node has not.
    """

    expected: str
    before: Callable[[EmbeddedAws, Mapping[str, str]], None] | None = None
    during: Callable[[EmbeddedAws, str, Sequence[psutil.Process]], None] | None = None
    wrap: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None
    of_child: bool = False


def check_possible(fault: FaultKind | None, *, loopback: bool, after: str | None = None) -> None:
    """Refuse a fault that this machine cannot have, or not then.

    Raises:
        TrainshedError: it needs network namespaces, or does not happen after a line.
    """
    if after is not None and (fault is None or BEHAVIOURS[fault].during is None):
        waiting = ", ".join(kind for kind, each in BEHAVIOURS.items() if each.during)
        raise TrainshedError(f"--fault-after is for the faults {waiting}; leave it out")
    reason = "leave out --loopback" if loopback else namespaces_unavailable()
    if fault is FaultKind.CUT_NETWORK and reason:
        raise TrainshedError(f"{fault} needs nodes with networks of their own: {reason}")


def _late(command: tuple[str, ...]) -> tuple[str, ...]:
    first = f"sleep {_LATE_SECONDS}"
    return ("sh", "-c", _WRAPPED.format(index=0, first=first), "late", *command)


def _never(command: tuple[str, ...]) -> tuple[str, ...]:
    return ("sh", "-c", _WRAPPED.format(index=_CHILD, first="exec sleep 86400"), "never", *command)


def _lacks_devices(command: tuple[str, ...]) -> tuple[str, ...]:
    return ("sh", "-c", _LACKS_DEVICES.format(index=_CHILD), "lacks-devices", *command)


def _kill_child(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)


def _cut_network(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    process = processes[0]
    # Never that of this machine.
    assert not _network(process.pid).samefile(_network(os.getpid()))
    enter = ["nsenter", f"--target={process.pid}", "--net"]
    subprocess.run([*enter, "ip", "link", "set", "eth0", "down"], check=True)


def _network(pid: int) -> Path:
    return Path(f"/proc/{pid}/ns/net")


def child_processes(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
    """Return the processes of the child's command; none before it starts and after it ends."""
    mark = f"{job}#{_CHILD}"
    found = []
    for process in psutil.Process(aws.server.process.pid).children(recursive=True):
        with suppress(psutil.Error):
            if process.environ().get("AWS_BATCH_JOB_ID") == mark:
                found.append(process)
    return found


def _terminate_host(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    [child] = aws.client("batch").describe_jobs(jobs=[f"{job}#{_CHILD}"])["jobs"]
    instance = child["container"]["containerInstanceArn"].rpartition("/")[2]
    aws.client("ec2").terminate_instances(InstanceIds=[instance])


def _no_capacity(aws: EmbeddedAws, outputs: Mapping[str, str]) -> None:
    aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            message="We currently do not have sufficient capacity in the Availability Zone you "
            "requested.",
            count=None,
        )
    )


def _no_log_group(aws: EmbeddedAws, outputs: Mapping[str, str]) -> None:
    aws.client("logs").delete_log_group(logGroupName=outputs["LogGroup"])


BEHAVIOURS: Mapping[FaultKind, Behaviour] = {
    FaultKind.LATE_MAIN_NODE: Behaviour(
        expected=f"the job starts {_LATE_SECONDS} seconds later", wrap=_late
    ),
    FaultKind.CHILD_NEVER_STARTS: Behaviour(
        expected="trainshed-launch names node 1 after its --wait, and the job is tried again",
        wrap=_never,
        of_child=True,
    ),
    FaultKind.KILL_CHILD: Behaviour(
        expected="trainshed-launch says that node 1 is lost, and the job is tried again",
        during=_kill_child,
        of_child=True,
    ),
    FaultKind.CUT_NETWORK: Behaviour(
        expected="after 30 seconds of silence trainshed-launch says that node 1 is lost, and the "
        "job is tried again",
        during=_cut_network,
        of_child=True,
    ),
    FaultKind.TERMINATE_HOST: Behaviour(
        expected="node 1 ends with Host EC2 (instance i-...) terminated., and the job is tried "
        "again",
        during=_terminate_host,
        of_child=True,
    ),
    FaultKind.INSUFFICIENT_CAPACITY: Behaviour(
        expected="the job waits in RUNNABLE, until the queue's time limit cancels it",
        before=_no_capacity,
    ),
    FaultKind.MISSING_LOG_GROUP: Behaviour(
        expected="each attempt fails with CannotStartContainerError", before=_no_log_group
    ),
    FaultKind.MISSING_IMAGE: Behaviour(expected="each attempt fails with CannotPullContainerError"),
    FaultKind.MISSING_DEVICE: Behaviour(
        expected="trainshed-launch names node 1 and the devices it lacks, the exit code is 197, "
        "node 1's instance powers off, and the job is tried again, with another in its place",
        wrap=_lacks_devices,
        of_child=True,
    ),
}
