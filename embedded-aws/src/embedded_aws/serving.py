"""The process that answers requests: a fork of the pristine one."""

import fcntl
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler
from werkzeug.serving import make_server

from embedded_aws import services
from embedded_aws.batch.scheduler import Scheduler
from embedded_aws.gateway import Gateway
from embedded_aws.guests.engine import GuestEngine
from embedded_aws.hosts.hosts import Hosts
from embedded_aws.pristine import PristineChannel
from embedded_aws.service_settings import ServiceSettings
from embedded_aws.settings import ServerSettings
from embedded_aws.ssm.command_runs import CommandRuns


def serve(
    moto: DomainDispatcherApplication,
    settings: ServerSettings,
    sockets: Sequence[socket.socket],
    lock: Path,
    as_of: date | None,
    channel: PristineChannel,
) -> None:
    """Answer requests until the pristine process ends.

    Args:
        moto: the application, with all services.
        settings: of the server, with its port.
        sockets: listen on it.
        lock: a file in the folder for what this process and those it starts write; it is locked,
            shared, by guests and hosts.
        as_of: the day.
        channel: to the pristine process.
    """
    folder = lock.parent
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    engine = GuestEngine(settings.guests, folder, lock) if settings.guests else None
    served = Gateway(moto, settings, channel.start_over)
    servers = []
    for listening in sockets:
        host, port = listening.getsockname()[:2]
        server = make_server(
            host,
            port,
            served,
            threaded=True,
            request_handler=MotoRequestHandler,
            fd=listening.fileno(),
        )
        servers.append(server)
    hosts = Hosts(
        # Guests have addresses of loopback.
        apart=not (settings.jobs.loopback or engine),
        speed=settings.jobs.speed,
        folder=folder,
        lock=_lock_shared(lock),
        port=settings.port,
        answer=servers[0].process_request,
    )
    services.install(
        ServiceSettings(
            as_of=as_of,
            registry=settings.registry,
            guests=engine,
            hosts=hosts,
            commands=CommandRuns(hosts),
            jobs=Scheduler(hosts),
            speed=settings.jobs.speed,
            endpoint=settings.endpoint,
            secret_key=settings.secret_key,
        )
    )
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    channel.wait_for_end()
    if engine:
        engine.close()
    # The pristine process does not do it when it is killed.
    shutil.rmtree(folder, ignore_errors=True)


def _lock_shared(file: Path) -> int:
    """Return a file that is locked until this process and all that inherit it have ended."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock
