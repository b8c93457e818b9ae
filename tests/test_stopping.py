"""What asks a command to stop."""

import signal
import subprocess
import sys

import pytest

from trainshed.stopping import on_stop

STOPS = ("SIGINT", "SIGTERM", "SIGHUP")
ASKED = """
import os, signal
from trainshed.stopping import on_stop

with on_stop(print):
    os.kill(os.getpid(), signal.{stop})
    print("goes on")
"""
TWICE = """
import os, signal
from trainshed.stopping import on_stop

with on_stop(lambda number: print("outer")):
    with on_stop(lambda number: print("inner")):
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGHUP)
"""


def printed(code: str, before: str = "") -> str:
    """What a program prints whose parent process has done something before."""
    child = "os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
    done = subprocess.run(
        [sys.executable, "-c", f"import os, signal, sys; {before}; {child}", code],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("action", ["SIG_DFL", "SIG_IGN"])
def test_a_signal_asks_unless_the_parent_process_ignores_it(stop: str, action: str) -> None:
    said = printed(ASKED.format(stop=stop), f"signal.signal(signal.{stop}, signal.{action})")

    number = f"{signal.Signals[stop].value}\n" if action == "SIG_DFL" else ""
    assert said == f"{number}goes on\n"


def test_a_closed_terminal_asks_once() -> None:
    assert printed(TWICE, "signal.signal(signal.SIGHUP, signal.SIG_DFL)") == "inner\n"


def test_signals_are_as_before_afterwards() -> None:
    before = [signal.getsignal(signal.Signals[stop]) for stop in STOPS]

    with on_stop(lambda _: None):
        pass

    assert [signal.getsignal(signal.Signals[stop]) for stop in STOPS] == before
