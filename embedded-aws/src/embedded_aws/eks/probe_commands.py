"""A command that a probe runs beside the command of a container."""

import errno
import signal
from threading import Event

from embedded_aws.eks.probe_answers import NoAnswer
from embedded_aws.hosts.host import Host
from embedded_aws.hosts.process import Command, Listener
from embedded_aws.hosts.start_problems import runc_problem

# The kubelet's source, `pkg/probe/exec`.
_MOST_CHARACTERS = 10 << 10


def execute(host: Host, command: Command, seconds: float) -> tuple[int | None, str]:
    """Run a command; return its exit code, None if it takes too long, and what it printed.

    Args:
        host: where it runs.
        command: that runs.
        seconds: that it has, of this machine.

    Raises:
        NoAnswer: it cannot run.
    """
    printed: list[str] = []
    ends: list[tuple[int | None, OSError | None]] = []
    over = Event()

    def note_end(code: int | None, refused: OSError | None) -> None:
        ends.append((code, refused))
        over.set()

    process = host.run(
        command, Listener(started=lambda: None, printed=printed.extend, ended=note_end)
    )
    if not over.wait(seconds):
        process.send_group(signal.SIGKILL)
        return None, ""
    [(code, refused)] = ends
    if refused is not None and refused.errno == errno.ESRCH:
        raise NoAnswer("failed to exec in container: no running task found")
    if refused is not None and refused.errno is not None:
        raise NoAnswer(f"failed to exec in container: {runc_problem(command.words[0], refused)}")
    if code is None:
        raise NoAnswer(f"failed to exec in container: {refused or 'it has ended'}")
    return code, "".join(printed)[:_MOST_CHARACTERS]
