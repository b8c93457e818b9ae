"""Faults of a job on plain EC2 nodes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from embedded_aws.embedded import EmbeddedAws
from trainshed.rehearse.faults import (
    CHILD,
    NOTICE_SECONDS,
    Behaviour,
    FaultKind,
    check_on_spot,
    processes_with,
)


def child_processes(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
    """Return the processes of the child's command; none before it starts and after it ends."""
    # There is one job.
    return processes_with(aws, "NODE_RANK", str(CHILD))


def _take_back(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Have EC2 take back the instance of a process, in whose folder its node's files are."""
    folder = Path(processes[0].environ()["EMBEDDED_AWS_NODE"])
    aws.notify_spot(folder.parent.name, seconds=NOTICE_SECONDS)


FAULTS: Mapping[FaultKind, Behaviour] = {
    FaultKind.SPOT_INTERRUPTION: Behaviour(
        expected="trainshed-launch ends the command on every node before the deadline, and the job "
        "with exit code 197; another node takes the place of the one that EC2 takes back, and the "
        "job, submitted again, goes on from its checkpoint",
        before=check_on_spot,
        during=_take_back,
        of_child=True,
    ),
}
WITHOUT: Mapping[FaultKind, str] = {}
