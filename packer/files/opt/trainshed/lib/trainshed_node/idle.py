"""Whether a node has a job.

When in doubt it has one: a check may wait, and a job must not lose its node.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from trainshed_node.system import run

# ECS developer guide, "Amazon ECS container agent introspection".
_TASKS = "http://127.0.0.1:51678/v1/tasks"
_ANSWER_SECONDS = 10
_STOPPED = "STOPPED"
# What starts jobs of plain EC2 nodes, and what a job is, wherever somebody started it.
_LAUNCHERS = ("trainshed-run-job", "trainshed-launch")
# Device files of accelerators and of EFA, as `devices` knows them.
_DEVICES = ("/dev/accel/", "/dev/hl", "/dev/infiniband/", "/dev/neuron", "/dev/nvidia")
# Services that hold them all the time, by the beginnings of the names of their units: the vendors'
# daemons, exporters and monitors, and ours.
_DAEMONS = ("amazon-cloudwatch-agent", "dcgm", "habana", "neuron", "nvidia", "trainshed")


def why_busy() -> str | None:
    """Return why the node may have a job; None when it has none."""
    return _task() or next(_processes(), None)


def _task() -> str | None:
    """Return a task of ECS, if its agent has one or does not say."""
    if not run("systemctl", "is-active", "--quiet", "ecs.service").ok:
        return None
    # No proxy of the node's is asked.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(_TASKS, timeout=_ANSWER_SECONDS) as answer:
            tasks = json.load(answer)["Tasks"] or ()
        found = [each["Arn"] for each in tasks if each["KnownStatus"] != _STOPPED]
    except (OSError, ValueError, KeyError, TypeError):
        return "the ECS agent does not say whether it has tasks"
    return f"task {found[0]} runs" if found else None


def _processes() -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        # It may end meanwhile.
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if any(Path(word).name in _LAUNCHERS for word in words[:3]):
                yield f"process {folder.name} is {' '.join(words).strip()}"
            elif not _is_daemon(folder) and (device := _device(folder)):
                yield f"process {folder.name} holds {device}"
        except OSError:
            continue


def _is_daemon(process: Path) -> bool:
    """Whether a process is of a service that may hold devices all the time.

    cgroups(7), "/proc/[pid]/cgroup".
    """
    units = (process / "cgroup").read_text().split("/")
    return any(unit.strip().endswith(".service") and unit.startswith(_DAEMONS) for unit in units)


def _device(process: Path) -> str | None:
    for held in (process / "fd").iterdir():
        # It may be closed meanwhile, and another one held.
        try:
            target = str(held.readlink())
        except OSError:
            continue
        if target.startswith(_DEVICES):
            return target
    return None
