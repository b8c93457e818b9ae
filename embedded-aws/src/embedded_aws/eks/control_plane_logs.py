"""What the programs of a control plane say, in CloudWatch Logs: the types that are enabled.

EKS user guide, "Send control plane logs to CloudWatch Logs": the log group, the types, and that
they arrive within minutes; here at once. From memory: the names of the streams. That the group
comes back while the cluster logs is documented there, too. Of the type `authenticator` nothing is
written: here no program of its own judges tokens.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.eks.calls import guard

AUDIT_LOG = "audit.log"
# By type: the program's log in the folder of the control plane, and how the stream's name begins.
_LOGS = {
    "api": ("kube-apiserver.log", "kube-apiserver"),
    "audit": (AUDIT_LOG, "kube-apiserver-audit"),
    "controllerManager": ("kube-controller-manager.log", "kube-controller-manager"),
    "scheduler": ("kube-scheduler.log", "kube-scheduler"),
}
# CloudWatch Logs API reference, PutLogEvents: a batch has 1 MiB at most, each event with 26 bytes,
# and 10,000 events.
_BATCH_BYTES, _EVENT_BYTES, _BATCH_EVENTS = 1 << 20, 26, 10_000


def enabled_types(cluster: Row) -> Sequence[str]:
    """Return the types that a cluster logs."""
    setup: Row = cluster["logging"]["clusterLogging"][0]
    return setup["types"] if setup["enabled"] else ()


def make_log_group(call: Call, cluster: Row) -> None:
    """Make the log group of a cluster that logs, if there is none.

    User guide, "Send control plane logs to CloudWatch Logs": /aws/eks/CLUSTER/cluster.
    """
    if not enabled_types(cluster):
        return
    logs = client("logs", account=call.account, region=call.region)
    try:
        logs.create_log_group(logGroupName=_group(cluster))
    except logs.exceptions.ResourceAlreadyExistsException:
        return


class ControlPlaneLogs:
    """The logs of one cluster's control plane.

    Args:
        call: in whose account and region.
        cluster: it.
        folder: of its control plane.
    """

    def __init__(self, call: Call, cluster: Row, folder: Path) -> None:
        self._call, self._cluster, self._folder = call, cluster, folder
        self._logs: Any = client("logs", account=call.account, region=call.region)
        # Of each type: the stream, and how much of the program's log has been looked at.
        self._streams: dict[str, str] = {}
        self._positions: dict[str, int] = {}

    def look(self) -> None:
        """Send what is new of the enabled types.

        Raises:
            OSError: a program's log cannot be read.
        """
        with guard:
            enabled = enabled_types(self._cluster)
        for kind, (name, _) in _LOGS.items():
            lines, position = self._new_lines(kind, self._folder / name)
            if kind in enabled:
                self._send(kind, lines)
            # What is refused is sent again.
            self._positions[kind] = position

    def _new_lines(self, kind: str, file: Path) -> tuple[list[str], int]:
        """Return new lines of a log, and where they end."""
        if not file.exists():
            return [], 0
        with file.open("rb") as opened:
            size, before = opened.seek(0, 2), self._positions.get(kind, 0)
            # A smaller one is another file: the API server begins a new one now and then.
            opened.seek(before if before <= size else 0)
            new = opened.read()
            # The rest of a line may come later.
            whole = new[: new.rfind(b"\n") + 1]
            position = opened.tell() - len(new) + len(whole)
        return [line for line in whole.decode(errors="replace").splitlines() if line], position

    def _send(self, kind: str, lines: Sequence[str]) -> None:
        for batch in _batches(lines):
            try:
                self._put(kind, batch)
            except self._logs.exceptions.ResourceNotFoundException:
                # Nobody has made the group or the stream yet, or somebody has deleted it.
                make_log_group(self._call, self._cluster)
                self._streams[kind] = f"{_LOGS[kind][1]}-{mock_random.get_random_hex(32)}"
                self._logs.create_log_stream(
                    logGroupName=_group(self._cluster), logStreamName=self._streams[kind]
                )
                self._put(kind, batch)

    def _put(self, kind: str, batch: Sequence[str]) -> None:
        now = int(time.time() * 1000)
        self._logs.put_log_events(
            logGroupName=_group(self._cluster),
            logStreamName=self._streams.get(kind, _LOGS[kind][1]),
            logEvents=[{"timestamp": now, "message": line} for line in batch],
        )


def _group(cluster: Row) -> str:
    return f"/aws/eks/{cluster['name']}/cluster"


def _batches(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    batch: list[str] = []
    size = 0
    for line in lines:
        needed = len(line.encode()) + _EVENT_BYTES
        if batch and (size + needed > _BATCH_BYTES or len(batch) == _BATCH_EVENTS):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += needed
    if batch:
        yield batch
