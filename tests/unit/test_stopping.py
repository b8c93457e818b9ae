"""What ends a command that cleans up."""

import signal
import subprocess
import sys

import pytest

from trainshed.stopping import stoppable

STOPPED = """
import os, signal
from trainshed.stopping import stoppable

try:
    with stoppable():
        os.kill(os.getpid(), signal.{stop})
        print("goes on")
except KeyboardInterrupt:
    print("cleans up")
"""


@pytest.mark.parametrize("stop", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize(("action", "said"), [("SIG_DFL", "cleans up"), ("SIG_IGN", "goes on")])
def test_a_signal_stops_it_unless_the_parent_process_ignores_it(
    stop: str, action: str, said: str
) -> None:
    parent = f"import os, signal, sys; signal.signal(signal.{stop}, signal.{action});"
    child = "os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"

    done = subprocess.run(
        [sys.executable, "-c", f"{parent} {child}", STOPPED.format(stop=stop)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == f"{said}\n"


def test_sigterm_is_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with stoppable():
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler

    assert signal.getsignal(signal.SIGTERM) is before
