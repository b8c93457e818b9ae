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
from embedded_aws.eks.pod_probes import Probes
from embedded_aws.eks.pod_statuses import TIME, Ended, container_status, is_sidecar
from embedded_aws.hosts.process import Command, HostProcess
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
        probes: that ask it; None before it runs.
        command: that was started last.
        started: since when it runs or ran; None if it never did.
        ended: how it ended; None while it runs, or before that.
        before: how the run before ended.
        restarts: how often it was started again.
        identifier: of the latest run.
        kill_at: when SIGKILL follows the SIGTERM that it got; None if it got none.
    """

    spec: Mapping[str, Any]
    is_init: bool
    pod_policy: str
    waits: tuple[str, str] = _BEGINS
    log: ContainerLog | None = None
    past_log: ContainerLog | None = None
    process: HostProcess | None = None
    probes: Probes | None = None
    command: Command | None = None
    started: str | None = None
    ended: Ended | None = None
    before: Ended | None = None
    restarts: int = 0
    kill_at: float | None = None
    identifier: str = field(default_factory=partial(token_hex, 32))
    _again_at: float = 0
    # Waits before it starts again; and its end has been told.
    _backs_off: bool = False
    _told: bool = False
    _was_up: bool = False

    @property
    def name(self) -> str:
        """The name of the container."""
        return str(self.spec["name"])

    @property
    def place(self) -> str:
        """Where it is in the pod, for events."""
        return f"spec.{'initContainers' if self.is_init else 'containers'}{{{self.name}}}"

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
        return self.policy == "Never" or (self.policy == "OnFailure" and self.ended.code == 0)

    @property
    def policy(self) -> str:
        """Its restart policy, or the pod's."""
        found = str(self.spec.get("restartPolicy", self.pod_policy))
        is_retried = self.is_init and not self.is_sidecar and found == "Always"
        return "OnFailure" if is_retried else found

    @property
    def is_initialized(self) -> bool:
        """Of an init container, whether the ones after it may start.

        A sidecar is it once it has started, by its startup probe if it has one.
        """
        if self.is_sidecar:
            return self._was_up or (self.probes is not None and self.probes.started)
        return self.ended is not None and not self.ended.code

    def may_run_again(self) -> bool:
        """Whether it has ended, its end is known to all, and its back-off is over."""
        return self._told and not self.is_over and time.monotonic() >= self._again_at

    def forget_run(self) -> None:
        """Begin anew."""
        self._was_up = self.is_initialized
        self.restarts += 1
        self.before, self.ended = self.ended, None
        self.past_log, self.process, self.kill_at = self.log, None, None
        self.probes = None
        self.started, self.identifier = None, token_hex(32)
        self.waits, self._told = _BEGINS, False

    def note_start(self, probes: Probes) -> None:
        """Note that its process runs."""
        self.probes = probes
        self.started = datetime.now(UTC).strftime(TIME)

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
                    f"{runc_problem(self.command.words[0] if self.command else '', refused)}"
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
            identifier=self.identifier,
        )

    def status(self, pod: Row, *, ends: bool) -> Row:
        """Return its status, which whoever calls this tells.

        Args:
            pod: whose container it is.
            ends: nothing of the pod is started any more.
        """
        ended = self.ended
        running = self.started if self.process and not ended else None
        up = running is not None and self.probes is not None and self.probes.started
        ready = self.probes is not None and self.probes.ready
        if self.is_init and not self.is_sidecar:
            ready = self.is_initialized
        backs_off = ended is not None and self._backs_off and not ends and not self.is_over
        self._told = ended is not None
        return container_status(
            self.spec,
            pod=pod,
            running=running,
            up=up,
            ready=ready,
            ended=None if backs_off else ended,
            before=ended if backs_off else self.before,
            waits=self.waits,
            identifier=self.identifier,
            restarts=self.restarts,
        )
