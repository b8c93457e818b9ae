"""CPU seconds of the test suite by folder, with all that the tests start."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryFile

from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
_SET_CHILD_SUBREAPER = 36  # prctl(2)


def suite() -> list[str]:
    """Run the tests folder by folder, and report the CPU seconds of each."""
    if sys.platform == "linux":
        # Servers that outlive the command that started them are counted here, too.
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    folders: dict[str, list[str]] = {}
    for tests in ("tests", "embedded-aws/tests"):
        for path in sorted((ROOT / tests).rglob("test_*.py")):
            name = "/".join((tests, *path.relative_to(ROOT / tests).parts[:-1][:1]))
            folders.setdefault(name, []).append(str(path.relative_to(ROOT)))
    found = {name: _cpu_seconds(files) for name, files in folders.items()}
    lines = ["", "## The test suite", "", "| tests | CPU seconds |", "|---|---|"]
    lines += [f"| {name} | {seconds:.0f} |" for name, seconds in found.items()]
    lines.append(f"| in all | {sum(found.values()):.0f} |")
    Console().print("\n".join(lines))
    return lines


def _cpu_seconds(files: list[str]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    # embedded-aws has settings of its own, which do not know the ladder.
    options = ["-c", "pyproject.toml", "-n", "auto", "--dist", "loadfile", "-q"]
    command = ["pytest", *options, "-m", "not ladder", *files]
    with TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, text=True)
        # Those that outlive their parent are ours then; tests wait for some of them to be gone.
        while (ended := os.wait())[0] != process.pid:
            pass
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        if process.returncode not in (0, 5):  # 5: the ladder alone has tests there
            output.seek(0)
            sys.exit(
                f"error: {' '.join(command)} ended with {process.returncode}:\n{output.read()}"
            )
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    suite()
