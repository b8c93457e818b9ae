"""A container of a pod: what becomes of it, and whether it runs again.

Kubernetes, "Pod Lifecycle": states, restart policies of pods and of single containers, the back-off
of containers that end again and again (10 s, doubled up to 5 minutes, after a first restart at
once). "Init Containers": they run until they succeed, with the policy OnFailure where the pod's is
Always. "Sidecar Containers": an init container with the policy Always always runs again. From
memory: containerd's reason and code of a program that does not start.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.clock import seconds_here
from embedded_aws.eks.pod_logs import ContainerLog
from embedded_aws.eks.pod_probes import Readiness
from embedded_aws.eks.pod_statuses import TIME, Ended, container_status, is_sidecar
from embedded_aws.hosts.process import HostProcess
from embedded_aws.hosts.start_problems import runc_problem

_FIRST_BACK_OFF, _LONGEST_BACK_OFF = 10, 300
_KILLED, _NOT_STARTED = 137, 128
# How a container begins to wait.
_BEGINS = ("ContainerCreating", "")


@dataclass(slots=True, kw_only=True)
class PodContainer:
    """A container of a pod, in its latest run.

    Attributes:
        spec: of the container.
        is_init: it is one of the pod's `initContainers`.
        pod_policy: the pod's `restartPolicy`.
        waits: reason and message, where it neither runs nor has ended.
        log: of the latest run; None before the first one.
        past_log: of the run before.
        process: that runs, or ran; None before it is started.
        readiness: what its probe says; None before it runs.
        program: that was started last.
        started: since when it runs or ran; None if it never did.
        ended: how it ended; None while it runs, or before that.
        before: how the run before ended.
        restarts: how often it was started again.
        kill_at: when SIGKILL follows the SIGTERM that it got; None if it got none.
    """

    spec: Mapping[str, Any]
    is_init: bool
    pod_policy: str
    waits: tuple[str, str] = _BEGINS
    log: ContainerLog | None = None
    past_log: ContainerLog | None = None
    process: HostProcess | None = None
    readiness: Readiness | None = None
    program: str = ""
    started: str | None = None
    ended: Ended | None = None
    before: Ended | None = None
    restarts: int = 0
    kill_at: float | None = None
    _identifier: str = field(default_factory=partial(token_hex, 32))
    _again_at: float = 0
    # Waits before it starts again; and its end has been told.
    _backs_off: bool = False
    _told: bool = False
    _has_run: bool = False

    @property
    def name(self) -> str:
        """The name of the container."""
        return str(self.spec["name"])

    @property
    def is_sidecar(self) -> bool:
        """It is an init container that goes on to run beside the containers of the pod."""
        return self.is_init and is_sidecar(self.spec)

    @property
    def runs(self) -> bool:
        """A process of it was started, and has not ended."""
        return self.process is not None and self.ended is None

    @property
    def is_over(self) -> bool:
        """It has ended, and does not run again by its restart policy."""
        if self.ended is None:
            return False
        policy = self.spec.get("restartPolicy", self.pod_policy)
        if self.is_init and not self.is_sidecar and policy == "Always":
            policy = "OnFailure"
        return policy == "Never" or (policy == "OnFailure" and self.ended.code == 0)

    @property
    def is_initialized(self) -> bool:
        """Of an init container, whether the ones after it may start.

        A sidecar is it from its first start on.
        """
        return self._has_run if self.is_sidecar else self.ended is not None and not self.ended.code

    def may_run_again(self) -> bool:
        """Whether it has ended, its end is known to all, and its back-off is over."""
        return self._told and not self.is_over and time.monotonic() >= self._again_at

    def forget_run(self) -> None:
        """Begin anew."""
        self.restarts += 1
        self.before, self.ended = self.ended, None
        self.past_log, self.process, self.kill_at = self.log, None, None
        self.started, self._identifier = None, token_hex(32)
        self.waits, self._told = _BEGINS, False

    def note_start(self, readiness: Readiness) -> None:
        """Note that its process runs."""
        self.readiness = readiness
        self.started, self._has_run = datetime.now(UTC).strftime(TIME), True

    def note_end(self, code: int | None, refused: OSError | None, pod: str) -> None:
        """Note that its process has ended.

        Args:
            code: its exit code, as `Listener` has it.
            refused: why it never ran, or None.
            pod: name, namespace and uid, for messages.
        """
        if refused is not None:
            said = str(refused)
            if refused.errno is not None:
                said = (
                    "failed to create containerd task: failed to create shim task: "
                    f"{runc_problem(self.program, refused)}"
                )
            ended = self._end(_NOT_STARTED, "StartError", said)
        else:
            code = _KILLED if code is None else 128 - code if code < 0 else code
            ended = self._end(code, "Completed" if code == 0 else "Error", "")
        exponent = self.restarts - 1
        wait = min(_FIRST_BACK_OFF * 2**exponent, _LONGEST_BACK_OFF) if exponent >= 0 else 0
        self._again_at, self._backs_off = time.monotonic() + seconds_here(wait), wait > 0
        self.waits = (
            "CrashLoopBackOff",
            f"back-off {wait}s restarting failed container={self.name} pod={pod}",
        )
        # Last, since it says that all else is there.
        self.ended = ended

    def end_unstarted(self) -> None:
        """Note that it was never started, and that its pod ends.

        The words are the kubelet's, in `pkg/kubelet/status/status_manager.go`.
        """
        said = "The container could not be located when the pod was terminated"
        self.ended = self._end(_KILLED, "ContainerStatusUnknown", said)

    def _end(self, code: int, reason: str, message: str) -> Ended:
        return Ended(
            code=code,
            reason=reason,
            message=message,
            started=self.started,
            finished=datetime.now(UTC).strftime(TIME),
            identifier=self._identifier,
        )

    def status(self, pod: Row, *, ends: bool) -> Row:
        """Return its status, which whoever calls this tells.

        Args:
            pod: whose container it is.
            ends: nothing of the pod is started any more.
        """
        ended = self.ended
        ready = self.readiness is not None and self.readiness.ready
        if self.is_init and not self.is_sidecar:
            ready = self.is_initialized
        backs_off = ended is not None and self._backs_off and not ends and not self.is_over
        self._told = ended is not None
        return container_status(
            self.spec,
            pod=pod,
            running=self.started if self.process and not ended else None,
            ready=ready,
            ended=None if backs_off else ended,
            before=ended if backs_off else self.before,
            waits=self.waits,
            identifier=self._identifier,
            restarts=self.restarts,
        )
