"""The hosts of the process that answers requests; others run no processes."""

import fcntl
import os

from embedded_aws.hooks import ServingProcess, when_instance_ended, when_serving
from embedded_aws.hosts.hosts import Hosts

_hosts: Hosts | None = None


def hosts() -> Hosts | None:
    """Return the hosts; None for an AWS whose instances run no processes."""
    return _hosts


@when_serving
def _start(process: ServingProcess) -> None:
    global _hosts
    settings = process.settings
    lock = os.open(process.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    # Until this process and all that inherit the file have ended.
    fcntl.flock(lock, fcntl.LOCK_SH)
    _hosts = Hosts(
        # Guests have addresses of loopback.
        apart=not (settings.jobs.loopback or settings.guests),
        speed=settings.jobs.speed,
        folder=process.folder,
        lock=lock,
        port=settings.port,
        answer=process.answer,
    )


@when_instance_ended
def _end(instance: object) -> None:
    if _hosts:
        _hosts.end(instance)
