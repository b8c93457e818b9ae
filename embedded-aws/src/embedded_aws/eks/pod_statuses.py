"""The status of a pod, as its kubelet writes it.

Kubernetes API reference, PodStatus and ContainerStatus; "Pod Lifecycle": phases and conditions. The
kubelet's source: `getPhase` of `pkg/kubelet/kubelet_pods.go` and `pkg/kubelet/status/generate.go`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Row

# The kubelet's source, `pkg/kubelet/active_deadline.go`.
TOO_LATE = {
    "reason": "DeadlineExceeded",
    "message": "Pod was active on the node longer than the specified deadline",
}
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


def is_sidecar(spec: Mapping[str, Any]) -> bool:
    """Whether an init container goes on to run beside the containers of its pod.

    Args:
        spec: of the init container.
    """
    return spec.get("restartPolicy") == "Always"


def container_status(
    spec: Mapping[str, Any],
    *,
    pod: Mapping[str, Any],
    running: str | None,
    up: bool,
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
        pod: whose container it is.
        running: since when it runs, or None.
        up: it runs, and its startup probe has succeeded, if it has one.
        ready: it is, or has been where that is all that it is for.
        ended: how it ended for good, or None.
        before: how it ended before, or None.
        waits: reason and message if it neither runs nor has ended.
        identifier: of the container.
        restarts: how often it was started again.
    """
    reason, message = waits
    if reason == "ContainerCreating" and pod["spec"].get("initContainers"):
        reason = "PodInitializing"
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
        "ready": ready,
        "started": up,
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
    identifier = pod["metadata"]["uid"].replace("-", "")
    succeeded = Ended(
        code=0,
        reason="Completed",
        message="",
        started=since,
        finished=since,
        identifier=identifier,
    )

    def status(spec: Mapping[str, Any], *, runs: bool) -> Row:
        return container_status(
            spec,
            pod=pod,
            running=since if runs and not waits else None,
            up=runs and not waits,
            ready=waits is None,
            ended=None if runs or waits else succeeded,
            before=None,
            waits=waits or ("", ""),
            identifier=identifier,
            restarts=0,
        )

    return pod_status(
        pod,
        [status(each, runs=True) for each in pod["spec"]["containers"]],
        init=[
            status(each, runs=is_sidecar(each)) for each in pod["spec"].get("initContainers", [])
        ],
        since=since,
        address=address,
        host=host,
        over=False,
    )


def pod_status(
    pod: Mapping[str, Any],
    containers: Sequence[Row],
    *,
    init: Sequence[Row],
    since: str,
    address: str,
    host: str,
    over: bool,
    too_late: bool = False,
) -> Row:
    """Return the status of a pod.

    Args:
        pod: as it is.
        containers: statuses of its containers.
        init: statuses of its init containers.
        since: when its kubelet saw it first.
        address: its own; empty for none yet.
        host: address of its node.
        over: no container runs again.
        too_late: it was active longer than it may be.
    """
    specs = pod["spec"].get("initContainers", [])
    sidecars = [each for spec, each in zip(specs, init, strict=True) if is_sidecar(spec)]
    incomplete = [
        each["name"]
        for spec, each in zip(specs, init, strict=True)
        if not each["started" if is_sidecar(spec) else "ready"]
    ]
    began = any("waiting" not in each["state"] for each in containers)
    initialized = began or not incomplete
    # One that waits to run again counts as one that has begun.
    ran = all("waiting" not in each["state"] or each["lastState"] for each in containers)
    phase = "Running" if ran else "Pending"
    if over:
        codes = [each["state"].get("terminated", {}).get("exitCode") for each in containers]
        phase = "Failed" if too_late or any(code != 0 for code in codes) else "Succeeded"
    unready = [each["name"] for each in (*sidecars, *containers) if not each["ready"]]
    ready = "False" if over or unready else "True"
    why = {"reason": f"Pod{'Completed' if phase == 'Succeeded' else 'Failed'}"} if over else {}
    if unready and not over:
        why = _why("ContainersNotReady", "unready", unready)
    gates = _closed_gates(pod)
    of_pod: tuple[str, Row] = (ready, why)
    if ready == "True" and gates:
        of_pod = "False", {"reason": "ReadinessGatesNotReady", "message": ", ".join(gates)}
    begin: Row = {"reason": "PodCompleted"} if phase == "Succeeded" else {}
    if not initialized:
        begin = _why("ContainersNotInitialized", "incomplete", incomplete)
    conditions = {
        "PodScheduled": ("True", {}),
        "PodReadyToStartContainers": ("False" if over or not address else "True", {}),
        "Initialized": ("True" if initialized else "False", begin),
        "ContainersReady": (ready, why),
        "Ready": of_pod,
    }
    return {
        "phase": phase,
        **(TOO_LATE if over and too_late else {}),
        "startTime": since,
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        **({"podIP": address, "podIPs": [{"ip": address}]} if address else {}),
        "conditions": _conditions(pod["status"].get("conditions", []), conditions),
        **({"initContainerStatuses": list(init)} if init else {}),
        "containerStatuses": list(containers),
    }


def _why(reason: str, state: str, names: Sequence[str]) -> Row:
    """Return why a condition is not met, by the containers that are to blame."""
    return {"reason": reason, "message": f"containers with {state} status: [{' '.join(names)}]"}


def _closed_gates(pod: Mapping[str, Any]) -> list[str]:
    """Return what keeps a pod from being ready whose containers are: its `readinessGates`."""
    found = {each["type"]: each["status"] for each in pod["status"].get("conditions", [])}
    closed = []
    for kind in [each["conditionType"] for each in pod["spec"].get("readinessGates", [])]:
        if kind not in found:
            closed.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif found[kind] != "True":
            closed.append(
                f'the status of pod readiness gate "{kind}" is not "True", but {found[kind]}'
            )
    return closed


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
