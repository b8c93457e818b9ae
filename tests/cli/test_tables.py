"""Tables on terminals of several widths, and in a pipe: nothing is cut."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trainshed.explain import explain
from trainshed.plan import load_fleet

ROOT = Path(__file__).parents[2]
# Narrower than most tables, so that cells are folded, and wide.
WIDTHS = (60, 120)
STYLE = re.compile(r"\x1b\[[0-9;]*m")
COMMANDS = {
    "explain": ["explain", "train"],
    "explain all": ["explain"],
    "catalogue list": ["catalogue", "list"],
    "catalogue show": ["catalogue", "show", "p6-b300.48xlarge"],
    "offline types": ["offline", "types"],
}


@cache
def on_a_terminal(columns: int, *arguments: str) -> str:
    """Run `trainshed` on a terminal of so many columns; return what it shows there."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [sys.executable, "-m", "trainshed.cli", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=ROOT,
        env={**environment, "TERM": "xterm"},
    ):
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(master, 65536):
                shown += part
        except OSError:  # Linux's end of file of a terminal
            pass
    os.close(master)
    return STYLE.sub("", shown.decode())


def columns_of(shown: str) -> str:
    """Put the cells of each column one below another, without space: folds disappear."""
    rows = [line.strip("│┃\r").replace("┃", "│").split("│") for line in shown.splitlines()]
    widest = max(map(len, rows))
    columns = ["".join(row[n] for row in rows if n < len(row)) for n in range(widest)]
    return "\n".join("".join(column.split()) for column in columns)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_of_any_width_shows_whole_cells(command: str, columns: int) -> None:
    shown = on_a_terminal(columns, *COMMANDS[command])

    tables = [line for line in shown.splitlines() if line[:1] in "┏┡│└"]
    assert tables
    assert "…" not in shown
    assert all(len(line.rstrip("\r")) <= columns for line in tables)


@pytest.mark.parametrize("columns", WIDTHS)
def test_every_decision_and_reason_is_there_in_whole(columns: int) -> None:
    (plan,) = load_fleet([ROOT / "clusters/train.yaml"]).clusters

    shown = columns_of(on_a_terminal(columns, "explain", "train"))

    for decision in explain(plan).decisions:
        for text in (decision.field, decision.value, decision.reason):
            assert "".join(text.split()) in shown


@pytest.mark.parametrize("cluster", ["train", "dl1", "p4d"])
def test_every_decision_is_a_line_in_a_pipe(
    trainshed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, cluster: str
) -> None:
    monkeypatch.chdir(ROOT)
    (plan,) = load_fleet([ROOT / f"clusters/{cluster}.yaml"]).clusters

    out = trainshed("explain", cluster).out

    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    for decision in plan.decisions:
        assert [decision.field, decision.value, decision.reason] in lines
