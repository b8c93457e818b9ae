"""Running one command against an embedded AWS of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from embedded_aws.run import run as run_command
from embedded_aws.settings import ServerSettings

pytestmark = pytest.mark.server
RUN = (str(Path(sys.executable).parent / "embedded-aws"), "run")
# Says that it is ready, then waits for a signal.
WAITER = "import signal; print('ready', flush=True); signal.pause()"


Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Start `embedded-aws run -- ARGUMENTS` in a directory of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*RUN, *arguments],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        # The command too, whose guard a failing test may not have.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def python(code: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", code)


def test_a_command_that_succeeds_finds_an_embedded_aws_and_leaves_no_log(
    run: Run, tmp_path: Path
) -> None:
    code = "import boto3; print(boto3.client('sts').get_caller_identity()['Account'])"

    process = run("--account", "210987654321", *python(code))
    out, err = process.communicate()

    assert (process.returncode, out, err) == (0, "210987654321\n", "")
    assert list(tmp_path.glob(".embedded-aws/run-*.log")) == []


def test_a_signal_reaches_the_command_and_shows_in_the_exit_code(run: Run) -> None:
    process = run(*python(WAITER))
    assert process.stdout
    process.stdout.readline()

    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=120) == 128 + signal.SIGTERM


def test_a_signal_that_comes_while_the_command_starts_reaches_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The alarm ends a command that the signal did not reach.
    command = [sys.executable, "-c", "import signal; signal.alarm(20); signal.pause()"]

    class Slow(subprocess.Popen[bytes]):
        """Returns to its caller some time after the command runs, as on a loaded machine."""

        def __init__(self, arguments: Sequence[str], **options: Any) -> None:
            super().__init__(arguments, **options)
            if arguments == command:
                os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Slow)

    code, _ = run_command(command, ServerSettings(), state=tmp_path)

    assert code == 128 + signal.SIGTERM


def test_the_server_the_command_and_its_children_die_with_a_run_that_is_killed(run: Run) -> None:
    unwilling = f"import signal; signal.signal(15, signal.SIG_IGN); {WAITER}"
    both = f'"{sys.executable}" -c "{WAITER}" & "{sys.executable}" -c "{unwilling}"; true'
    process = run("--", "sh", "-c", f"echo $$; {both}")
    assert process.stdout
    shell = psutil.Process(int(process.stdout.readline()))
    # Lines of two processes in one pipe may be mixed.
    printed = process.stdout.readline() + process.stdout.readline()
    assert printed.count("ready") == 2
    children = shell.children()
    assert len(children) == 2
    [server] = [
        child
        for child in psutil.Process(process.pid).children()
        if "embedded_aws.server" in child.cmdline()
    ]

    process.kill()

    _, alive = psutil.wait_procs([shell, *children, server], timeout=120)
    assert alive == []


def test_a_server_that_dies_is_reported(run: Run) -> None:
    process = run(
        *python(
            "import os, psutil\n"
            "parent = psutil.Process(os.getppid())\n"
            "[server] = [c for c in parent.children() if 'embedded_aws.server' in c.cmdline()]"
            "\nserver.kill(); psutil.wait_procs([server], timeout=0.5)"
        )
    )
    _, err = process.communicate()

    assert process.returncode == 1
    assert "the embedded AWS ended (exit code -9) while the command ran" in err


# Ends while a function still runs.
LEAVES_A_FUNCTION_BEHIND = """
import io, json, os, time, zipfile
from pathlib import Path
import boto3
trust = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    },
}
document = json.dumps(trust)
role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=document)["Role"]
with zipfile.ZipFile(code := io.BytesIO(), "w") as package:
    package.writestr("index.py", "import time\\ndef handler(event, context): time.sleep(60)")
functions = boto3.client("lambda")
functions.create_function(
    FunctionName="f",
    Runtime="python3.12",
    Handler="index.handler",
    Timeout=60,
    Role=role["Arn"],
    Code={"ZipFile": code.getvalue()},
)
functions.invoke(FunctionName="f", InvocationType="Event")
while not list(Path(os.environ["TMPDIR"]).rglob("index.py")):
    time.sleep(0.01)
raise SystemExit(7)
"""


def test_a_command_that_fails_gives_its_exit_code_and_leaves_the_log_but_no_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))

    process = run(*python(LEAVES_A_FUNCTION_BEHIND))
    _, err = process.communicate()

    assert process.returncode == 7, err
    [log] = tmp_path.glob(".embedded-aws/run-*.log")
    assert str(log) in err
    assert list(folder.iterdir()) == []
