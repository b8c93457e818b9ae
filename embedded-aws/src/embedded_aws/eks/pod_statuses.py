"""The status of a pod, as its kubelet writes it.

Kubernetes API reference, PodStatus and ContainerStatus; "Pod Lifecycle": phases and conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Row

TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a container ended.

    Attributes:
        code: its exit code.
        reason: one word.
        message: more; empty if there is nothing to say.
        started: when it began; None if it never ran.
        finished: when it ended.
        identifier: of the container.
    """

    code: int
    reason: str
    message: str
    started: str | None
    finished: str
    identifier: str

    def row(self) -> Row:
        """Return it as the API has it."""
        found = {
            "exitCode": self.code,
            "reason": self.reason,
            "message": self.message,
            "startedAt": self.started or self.finished,
            "finishedAt": self.finished,
            "containerID": f"containerd://{self.identifier}",
        }
        return {name: value for name, value in found.items() if value != ""}


def container_status(
    spec: Mapping[str, Any],
    *,
    running: str | None,
    ready: bool,
    ended: Ended | None,
    before: Ended | None,
    waits: tuple[str, str],
    identifier: str,
    restarts: int,
) -> Row:
    """Return the status of a container.

    Args:
        spec: of it.
        running: since when it runs, or None.
        ready: its probe says so, if it has one.
        ended: how it ended for good, or None.
        before: how it ended before, or None.
        waits: reason and message if it neither runs nor has ended.
        identifier: of the container.
        restarts: how often it was started again.
    """
    reason, message = waits
    if ended:
        state: Row = {"terminated": ended.row()}
    elif running:
        state = {"running": {"startedAt": running}}
    else:
        said = {"message": message} if message else {}
        state = {"waiting": {"reason": reason, **said}}
    return {
        "name": spec["name"],
        "image": spec["image"],
        "imageID": spec["image"] if running or ended else "",
        **({"containerID": f"containerd://{identifier}"} if running or ended else {}),
        "ready": running is not None and ready,
        "started": running is not None,
        "restartCount": restarts,
        "state": state,
        "lastState": {"terminated": before.row()} if before else {},
    }


def status_of_all(
    pod: Mapping[str, Any], *, address: str, host: str, waits: tuple[str, str] | None = None
) -> Row:
    """Return the status of a pod whose containers all run, or all wait.

    Args:
        pod: as it is.
        address: its own; empty for none yet.
        host: address of its node.
        waits: reason and message; None if they run.
    """
    since = pod["status"].get("startTime") or datetime.now(UTC).strftime(TIME)
    containers = [
        container_status(
            each,
            running=None if waits else since,
            ready=True,
            ended=None,
            before=None,
            waits=waits or ("", ""),
            identifier=pod["metadata"]["uid"].replace("-", ""),
            restarts=0,
        )
        for each in pod["spec"]["containers"]
    ]
    return pod_status(pod, containers, since=since, address=address, host=host, over=False)


def pod_status(
    pod: Mapping[str, Any],
    containers: Sequence[Row],
    *,
    since: str,
    address: str,
    host: str,
    over: bool,
) -> Row:
    """Return the status of a pod.

    Args:
        pod: as it is.
        containers: statuses of its containers.
        since: when its kubelet saw it first.
        address: its own; empty for none yet.
        host: address of its node.
        over: no container runs again.
    """
    ran = any("waiting" not in each["state"] or each["lastState"] for each in containers)
    phase = "Running" if ran else "Pending"
    if over:
        codes = [each["state"]["terminated"]["exitCode"] for each in containers]
        phase = "Failed" if any(codes) else "Succeeded"
    ready = "True" if all(each["ready"] for each in containers) else "False"
    why = {"reason": f"Pod{'Completed' if phase == 'Succeeded' else 'Failed'}"} if over else {}
    if not over and ready == "False":
        names = " ".join(each["name"] for each in containers if not each["ready"])
        why = {
            "reason": "ContainersNotReady",
            "message": f"containers with unready status: [{names}]",
        }
    conditions = {
        "PodScheduled": ("True", {}),
        "PodReadyToStartContainers": ("False" if over or not address else "True", {}),
        "Initialized": ("True", {"reason": "PodCompleted"} if phase == "Succeeded" else {}),
        "ContainersReady": (ready, why),
        "Ready": (ready, why),
    }
    return {
        "phase": phase,
        "startTime": since,
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        **({"podIP": address, "podIPs": [{"ip": address}]} if address else {}),
        "conditions": _conditions(pod["status"].get("conditions", []), conditions),
        "containerStatuses": list(containers),
    }


def _conditions(before: Sequence[Row], own: Mapping[str, tuple[str, Row]]) -> list[Row]:
    """Return the conditions of the kubelet, and those of others as they are."""
    now = datetime.now(UTC).strftime(TIME)
    there = {each["type"]: each for each in before}
    found = [each for each in before if each["type"] not in own]
    for kind, (status, why) in own.items():
        known = there.get(kind, {})
        since = known.get("lastTransitionTime") if known.get("status") == status else None
        found.append({"type": kind, "status": status, "lastTransitionTime": since or now, **why})
    return found
