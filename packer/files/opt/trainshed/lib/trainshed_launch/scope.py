"""A job's memory on a plain EC2 node: the host and Systems Manager's agent keep some.

What the agent starts is in the agent's cgroup and as hard to kill. A job that took all memory would
take the agent with it, which nobody could reach then, and no command could end.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from trainshed_launch.errors import LaunchError

_AGENT = "amazon-ssm-agent"
# Of what is not huge pages, which no limit counts.
_SHARE = 0.95


def scoped(command: Sequence[str], path: str | None) -> list[str]:
    """Return a command in a scope of its own, with a limit of memory, below the agent.

    systemd-run registers itself as the scope and then becomes the command: process, session, open
    files, output and exit code are the same. Elsewhere the command stays as it is.

    Args:
        command: program and arguments.
        path: where programs are looked for.

    Raises:
        LaunchError: there is no such program.
    """
    if _AGENT not in Path("/proc/self/cgroup").read_text(encoding="utf-8"):
        return [*command]
    if which(command[0], path=path) is None:
        said = os.strerror(errno.ENOENT)
        raise LaunchError(f"{command[0]} cannot be started: {said}", 127)
    limit = memory_limit_kib(Path("/proc/meminfo").read_text(encoding="utf-8"))
    scope = ("systemd-run", "--scope", "--quiet", "--collect", f"--property=MemoryMax={limit}K")
    return [*scope, "--", *command]


def memory_limit_kib(meminfo: str) -> int:
    """Return how much memory a job may take, by what /proc/meminfo says."""
    sizes = {name: int(kib) for name, kib in re.findall(r"^(\w+): +(\d+) kB$", meminfo, re.M)}
    return int((sizes["MemTotal"] - sizes.get("Hugetlb", 0)) * _SHARE)


def keep_killable() -> None:
    """Let the kernel end this process before the agent, whose score it has inherited."""
    score = Path("/proc/self/oom_score_adj")
    if int(score.read_text(encoding="ascii")) < 0:
        score.write_text("0", encoding="ascii")
