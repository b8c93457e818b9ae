"""How the commands of a step are run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trainshed.errors import Failure
from trainshed.up import run_command

ROOT = Path(__file__).parents[2]
APP = """
import aws_cdk
app = aws_cdk.App()
aws_cdk.Stack(app, "TrainNetwork")
app.synth()
"""
# Says by named pipes that it has begun, and what asks it to end; in between it waits for a third.
COMMAND = """
trap 'echo asked >ended; exit 1' INT TERM
echo begun >begun
read -r <never
"""
OURS = """
import sys
from pathlib import Path
from trainshed.up import run_command
run_command(sys.argv[2], Path(sys.argv[1]), print)
"""


def test_what_a_command_prints_is_in_its_log_and_shows_how_far_it_is(tmp_path: Path) -> None:
    shown: list[str] = []
    log = tmp_path / "build/x.log"
    event = "TrainNetwork | 3/26 | 10:14:06 AM | CREATE_COMPLETE | AWS::EC2::VPC | Vpc"

    run_command(f"echo begins; echo '{event}' >&2; echo", log, shown.append)

    assert shown == ["begins", "TrainNetwork 3 of 26"]
    command, *printed = log.read_text().splitlines()
    assert command.startswith("$ echo begins")
    assert printed == ["begins", event, ""]


def test_a_failure_has_the_end_of_what_was_printed(tmp_path: Path) -> None:
    with pytest.raises(Failure) as failed:
        run_command("seq 100; exit 3", tmp_path / "x.log", lambda _: None)

    first, *rest = failed.value.lines
    assert first.startswith("seq 100; exit 3 ended with exit code 3;")
    assert rest == [f"  | {number}" for number in range(81, 101)]


def test_a_command_within_a_command_that_fails_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failure):
        run_command("false | cat", tmp_path / "x.log", lambda _: None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_command_ends_with_us(tmp_path: Path, number: signal.Signals) -> None:
    for name in ("begun", "ended", "never"):
        os.mkfifo(tmp_path / name)
    ours = subprocess.Popen(
        [sys.executable, "-c", OURS, "x.log", COMMAND], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    assert (tmp_path / "begun").read_text() == "begun\n"
    ours.send_signal(number)

    # Without an end, this waits for ever.
    assert (tmp_path / "ended").read_text() == "asked\n"
    ours.wait()


@pytest.mark.synth
def test_what_another_cdk_cli_reads_is_not_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one leaves it that was killed, and whose process nobody has reaped."""
    (tmp_path / "cdk.json").write_text(json.dumps({"app": f"'{sys.executable}' app.py"}))
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "cdk.out").mkdir()
    (tmp_path / f"cdk.out/read.{os.getpid()}.1.lock").touch()
    monkeypatch.chdir(tmp_path)

    run_command("npx cdk ls", tmp_path / "x.log", lambda _: None)

    assert "TrainNetwork" in (tmp_path / "x.log").read_text()
