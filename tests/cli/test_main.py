"""The command line before any group of it is loaded, and where its output cannot go."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from all_commands import commands
from terminal import by_default


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.argv = ['trainshed', 'offline', 'up']; sys.modules['psutil'] = None\n"
        "from trainshed.cli import main; main()"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert shown.returncode == 2
    assert shown.stderr == (
        "error: trainshed offline needs the package psutil; "
        "install it: pip install -r requirements.txt in your project, make setup in a checkout\n"
    )


def test_help_loads_no_group() -> None:
    code = (
        "import sys; sys.argv = ['trainshed', '--help']\n"
        "from trainshed.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('trainshed.')])"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "offline" in shown.stdout
    assert shown.stdout.splitlines()[-1] == str(
        [
            *("trainshed.stopping", "trainshed.cli", "trainshed.printable"),
            *("trainshed.cli.output", "trainshed.errors", "trainshed.cli.command_line"),
        ]
    )


@pytest.mark.parametrize(("stop", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_what_stops_it_while_it_loads_is_no_traceback(tmp_path: Path, stop: str, code: int) -> None:
    (tmp_path / "typer.py").write_text("print(flush=True)\nimport signal\nsignal.pause()\n")
    with subprocess.Popen(
        [sys.executable, "-m", "trainshed.cli", "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=by_default,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.send_signal(signal.Signals[stop])

        assert process.stderr.read() == b""
    assert process.returncode == code


@pytest.mark.parametrize("words", [(), *(words for words, _ in commands())], ids=" ".join)
def test_every_command_has_help_by_both_names(
    trainshed: Callable[..., Any], words: tuple[str, ...]
) -> None:
    short, long = trainshed(*words, "-h"), trainshed(*words, "--help")

    assert (short.code, short.err) == (0, "")
    assert short.out == long.out
    assert "Usage: trainshed" in short.out and "-h" in short.out
    assert "…" not in short.out


def test_it_says_its_version(trainshed: Callable[..., Any]) -> None:
    answer = trainshed("--version")

    assert (answer.code, answer.out) == (0, f"trainshed {version('trainshed')}\n")


@pytest.mark.parametrize("words", [["catalogue", "list"], ["catalogue", "list", "--json"]])
def test_a_full_disk_is_reported_in_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        shown = subprocess.run(
            [sys.executable, "-m", "trainshed.cli", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert (shown.returncode, shown.stderr) == (1, "error: output: No space left on device\n")


def test_closed_output_is_no_failure() -> None:
    shown = subprocess.run(
        ["sh", "-c", 'exec "$PYTHON" -m trainshed.cli catalogue list >&-'],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )

    assert (shown.returncode, shown.stderr) == (0, "")
