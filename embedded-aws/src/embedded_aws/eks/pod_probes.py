"""Whether a container has started, lives and is ready, as its kubelet finds out.

Kubernetes, "Liveness, Readiness, and Startup Probes", and the API reference, Probe: a container
with a startup probe has started once that succeeds; only then its other probes are asked. With a
readiness probe it is ready once that succeeds, and no longer after some failures. One whose startup
or liveness probe fails as often is to be killed, and not asked any more. The kubelet's source,
`pkg/kubelet/prober`: a probe that cannot ask counts for nothing.

Readiness probes wait in AWS's time. The others wait in seconds of this machine, for a program does
not start faster here, and would be killed before it can answer.
"""

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any

from embedded_aws.clock import seconds_here
from embedded_aws.eks.probe_answers import Asked, NoAnswer, ask

_PERIOD_SECONDS, _FAILURES, _SUCCESSES = 10, 3, 1
# Asking more often than this would take the machine's processors.
_LEAST_SECONDS = 0.1
_STARTUP, _LIVENESS, _READINESS = "startup", "liveness", "readiness"


class Probes:
    """The probes of one container, from its start until it ends.

    Attributes:
        started: the startup probe has succeeded, if there is one.
        ready: the container is.
        failed: the probe for which it is to be killed, `startup` or `liveness`; None for none.

    Args:
        asked: the container.
        report: hears of a probe that finds something wrong, by a sentence.
    """

    def __init__(self, asked: Asked, report: Callable[[str], None]) -> None:
        self._asked, self._report = asked, report
        self._ended, self._guard = Event(), Lock()
        self.started = self.ready = False
        self.failed: str | None = None
        if self._probe(_STARTUP):
            self._begin(_STARTUP)
        else:
            self._note_started()

    def end(self) -> None:
        """Ask no more: the container has ended."""
        with self._guard:
            self._ended.set()
            self.ready = False

    def _probe(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = self._asked.spec.get(f"{kind}Probe", {})
        return found

    def _note_started(self) -> None:
        self.started, self.ready = True, not self._probe(_READINESS)
        for kind in (_LIVENESS, _READINESS):
            if self._probe(kind):
                self._begin(kind)

    def _begin(self, kind: str) -> None:
        Thread(target=self._ask_again_and_again, args=[kind], daemon=True).start()

    def _ask_again_and_again(self, kind: str) -> None:
        probe = self._probe(kind)
        wait, failures, successes = probe.get("initialDelaySeconds", 0), 0, 0
        while not self._ended.wait(_seconds(kind, wait)):
            wait = probe.get("periodSeconds", _PERIOD_SECONDS)
            try:
                wrong = ask(probe, self._asked)
            except NoAnswer as problem:
                state = "probe errored and resulted in unknown state"
                self._say(f"{kind.capitalize()} {state}: {problem}")
                continue
            if wrong is None:
                failures, successes = 0, successes + 1
            else:
                failures, successes = failures + 1, 0
                self._say(f"{kind.capitalize()} probe failed: {wrong}")
            fine = successes >= probe.get("successThreshold", _SUCCESSES)
            if not fine and failures < probe.get("failureThreshold", _FAILURES):
                continue
            if self._is_settled(kind, fine=fine):
                return

    def _say(self, said: str) -> None:
        # What ends answers nothing.
        if not self._ended.is_set():
            self._report(said)

    def _is_settled(self, kind: str, *, fine: bool) -> bool:
        """Note that a probe succeeds or fails; return whether it is asked no more."""
        with self._guard:
            if self._ended.is_set():
                return True
            if kind == _READINESS:
                self.ready = fine
            elif not fine:
                self.failed = kind
            elif kind == _STARTUP:
                self._note_started()
        return kind == _STARTUP or self.failed == kind


def _seconds(kind: str, wait: float) -> float:
    """Return how long a probe waits here."""
    return max(seconds_here(wait), min(wait, _LEAST_SECONDS)) if kind == _READINESS else wait
