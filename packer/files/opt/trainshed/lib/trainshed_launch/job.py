"""A job on plain EC2 nodes: what it is, and how one node runs its part."""

from __future__ import annotations

import base64
import binascii
import ctypes
import json
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed_launch.errors import LaunchError
from trainshed_launch.scope import keep_killable, scoped

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Job:
    """A job of some nodes.

    Attributes:
        name: tells its launches from those of other jobs.
        command: what to start on each node; one that begins with trainshed-launch gets the hosts.
        hosts: address of each node, the main node first.
        environment: variables of the command.
    """

    name: str
    command: Sequence[str]
    hosts: Sequence[str]
    environment: Mapping[str, str]


def read_job(text: str) -> Job:
    """Read a job: a JSON object in base64.

    Raises:
        LaunchError: it is none.
    """
    document = _decoded("the job", text)
    command, hosts = _texts(document, "command"), _texts(document, "hosts")
    if not command or not hosts:
        raise LaunchError("the job needs a command and hosts; submit it by trainshed job submit")
    return Job(
        name=str(document.get("name", "")),
        command=command,
        hosts=hosts,
        environment=_variables("the job", document.get("environment", {})),
    )


def read_variables(text: str) -> Mapping[str, str]:
    """Read variables: a JSON object of texts in base64, or nothing.

    Raises:
        LaunchError: they are none.
    """
    return _variables("--environment", _decoded("--environment", text)) if text else {}


def run_job(job: Job, variables: Mapping[str, str], launcher: Path) -> int:
    """Run this node's part of a job; return its exit code, 128 and the signal's number if killed.

    Systems Manager's agent kills this process, and its group, when a command is cancelled or takes
    too long. So what it starts is in a session of its own, and gets SIGTERM from the kernel when
    this process dies: the launcher then ends the job as it should, and a training writes its
    checkpoint. See `scoped` for its memory.

    Args:
        job: the job.
        variables: of all jobs; those of the job win.
        launcher: path of trainshed-launch.
    """
    # In memory: nobody would remove a file when this process is killed.
    hosts = os.memfd_create("hosts")
    os.write(hosts, "".join(f"{each}\n" for each in job.hosts).encode())
    command = [*job.command]
    if Path(command[0]).name == launcher.name:
        command[:1] = [str(launcher), "--hosts", f"/dev/fd/{hosts}"]
    environment = {"HOME": "/root", **os.environ, **variables, **job.environment}
    try:
        process = subprocess.Popen(
            scoped(command, environment.get("PATH")),
            stdin=subprocess.DEVNULL,
            env=environment | {"TRAINSHED_JOB": job.name},
            start_new_session=True,
            pass_fds=[hosts],
            preexec_fn=_prepare,
        )
    except OSError as error:
        raise LaunchError(f"{command[0]} cannot be started: {error.strerror}", 127) from error
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code


def _prepare() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # systemd.exec(5): a service, as the agent is one, may have 1024 files open until it asks for
    # more. Jobs of AWS Batch may have a million.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    keep_killable()


def _decoded(what: str, text: str) -> dict[str, Any]:
    try:
        document = json.loads(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        document = None
    if not isinstance(document, dict):
        raise LaunchError(f"{what} is not a JSON object in base64; submit it by trainshed job")
    return document


def _texts(document: Mapping[str, Any], key: str) -> list[str]:
    value = document.get(key)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise LaunchError(f"{key} of the job must be a list of texts; submit it by trainshed job")
    return value


def _variables(what: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise LaunchError(f"variables of {what} must be texts; submit it by trainshed job")
    return value
