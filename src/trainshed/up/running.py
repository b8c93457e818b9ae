"""Run the commands of a step, one after another."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

from trainshed.errors import Failure

# `TrainNetwork |  3/26 | 10:14:06 AM | CREATE_COMPLETE | ...`, as the CDK CLI prints events.
_EVENT = re.compile(r"(?:\d+:\d+:\d+ [AP]M \| )?(\w+) \|\s+(\d+)/(\d+) \|")
_LAST_LINES = 20
# Whatever ends this program, SIGKILL too, ends the command: then nothing writes to its standard
# input any more. Two deployments at once would be in each other's way.
_ENDS_WITH_US = """exec 3<&0 </dev/null
{ read -r -u 3 || kill -TERM 0; } >/dev/null 2>&1 &
exec 3<&-
"""


def require_npx() -> None:
    """Refuse a machine that cannot run the CDK CLI.

    Raises:
        Failure: commands of steps would not find npx.
    """
    if not shutil.which("npx", path=_environment()["PATH"]):
        raise Failure(
            "npx is not on PATH, and steps run npx cdk: install Node.js, and in the folder of your "
            "project what package.json names: npm ci"
        )


def run_command(command: str, log: Path, show: Callable[[str], None]) -> None:
    """Run a line of a shell to its end; what it prints goes to a file.

    Args:
        command: the line.
        log: the file, which keeps what it has.
        show: gets each line that says how far it is.

    Raises:
        Failure: it fails; the message has the end of what it printed.
        KeyboardInterrupt: after the command has cleaned up behind itself.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    last = deque[str](maxlen=_LAST_LINES)
    done: dict[str, str] = {}
    with (
        log.open("a", encoding="utf-8") as file,
        # Not the project's cdk.out: what another CDK CLI reads there, or a killed one whose process
        # nobody has reaped, cannot be synthesized again.
        tempfile.TemporaryDirectory(prefix="trainshed-up-") as assembly,
    ):
        file.write(f"$ {command}\n")
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", _ENDS_WITH_US + command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**_environment(), "CDK_OUTPUT": assembly},
            # Ctrl-C is passed on once, so that nobody cleans up twice.
            process_group=0,
        )
        assert process.stdin and process.stdout
        try:
            for line in process.stdout:
                file.write(line)
                file.flush()
                last.append(line.rstrip())
                if event := _EVENT.match(line):
                    done[event[1]] = f"{event[1]} {event[2]} of {event[3]}"
                    show(", ".join(done.values()))
                elif line.strip():
                    show(line.strip())
        except BaseException:
            os.killpg(process.pid, signal.SIGINT)
            for line in process.stdout:
                file.write(line)
            raise
        finally:
            code = process.wait()
            process.stdin.close()
            process.stdout.close()
    if code:
        raise Failure(
            f"{command} ended with exit code {code}; all that it printed is in {log}, "
            "and at its end:",
            *(f"  | {line}" for line in last),
        )


def _environment() -> dict[str, str]:
    """Let commands find the trainshed that runs this."""
    ours = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": os.pathsep.join([ours, os.environ.get("PATH", os.defpath)])}
