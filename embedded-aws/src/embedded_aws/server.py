"""The server process: `python -m embedded_aws.server`, started by `process.py` only.

It prints one line of JSON on standard output: `{"port": ...}` once it answers requests, or
`{"error": ...}` when it cannot start for a reason that is not a bug.
"""

import errno
import fcntl
import gc
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests.engine import GuestEngine
from embedded_aws.pristine import WATCH_STDIN, PristineChannel, keep_serving
from embedded_aws.settings import ServerSettings

if TYPE_CHECKING:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication

_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
_TRIES = 20
# Locked, shared, by what guests and hosts have on this machine.
_LOCK = "in-use.lock"


def main() -> None:
    """Serve until SIGTERM or, if its arguments say so, until standard input ends.

    The first argument has the settings, as JSON.
    """
    written, *options = sys.argv[1:]
    settings = ServerSettings.from_json(written)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        sockets = _listen(settings.port)
    except EmbeddedAwsError as error:
        _announce(error=str(error))
        sys.exit(1)
    settings = replace(settings, port=sockets[0].getsockname()[1])
    # The environment that process.py gives has all else that leads AWS's clients here.
    os.environ |= {"AWS_ENDPOINT_URL": settings.endpoint, "MOTO_PORT": str(settings.port)}
    moto = _load_and_seed(settings)
    with TemporaryDirectory(prefix="embedded-aws-", ignore_cleanup_errors=True) as folder:
        # The serving process ends by SIGKILL; this one removes its files.
        try:
            code = keep_serving(
                partial(_serve, moto, settings, sockets, folder),
                settings.as_of,
                ready=partial(_announce, port=settings.port),
                watch_stdin=WATCH_STDIN in options,
            )
        except SystemExit:
            code = 0
        _wait_for_the_rest(Path(folder))
    # The interpreter's normal shutdown would take seconds to free memory.
    os._exit(code)


def _wait_for_the_rest(folder: Path) -> None:
    """Return when no guest and no process is left: when nothing locks their file any more."""
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def _announce(**facts: object) -> None:
    """Print the one line, then close the pipe: the parent may end."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def _load_and_seed(settings: ServerSettings) -> "DomainDispatcherApplication":
    """Load and seed without garbage collection, which makes it a third faster."""
    gc.disable()
    from embedded_aws import service_models

    service_models.share()
    # moto reads its environment on import.
    from embedded_aws.application import build_application
    from embedded_aws.lambda_ import forks

    moto = build_application(settings)
    gc.freeze()
    gc.enable()
    forks.start()
    return moto


def _serve(
    moto: "DomainDispatcherApplication",
    settings: ServerSettings,
    sockets: Sequence[socket.socket],
    folder: str,
    as_of: date | None,
    channel: PristineChannel,
) -> None:
    """Answer requests until the pristine process ends."""
    from moto.moto_server.werkzeug_app import MotoRequestHandler
    from werkzeug.serving import make_server

    from embedded_aws import services
    from embedded_aws.batch.scheduler import Scheduler
    from embedded_aws.gateway import Gateway
    from embedded_aws.hosts.hosts import Hosts
    from embedded_aws.service_settings import ServiceSettings
    from embedded_aws.ssm.command_runs import CommandRuns

    tempfile.tempdir = os.environ["TMPDIR"] = folder
    lock = Path(folder) / _LOCK
    engine = GuestEngine(settings.guests, Path(folder), lock) if settings.guests else None
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
        folder=Path(folder),
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


def _listen(port: int) -> list[socket.socket]:
    """Bind one port on both loopback addresses, because `localhost` may mean either."""
    for _ in range(_TRIES):
        sockets: list[socket.socket] = []
        try:
            for family, host in _LOOPBACK:
                if made := _bind(family, host, sockets[0].getsockname()[1] if sockets else port):
                    sockets.append(made)
        except OSError as error:
            for made in sockets:
                made.close()
            if error.errno != errno.EADDRINUSE:
                raise
            if port:
                raise EmbeddedAwsError(f"port {port} is in use") from error
            continue
        return sockets
    raise EmbeddedAwsError(
        f"found no port that is free on both loopback addresses ({_TRIES} tries)"
    )


def _bind(family: socket.AddressFamily, host: str, port: int) -> socket.socket | None:
    """Return a listening socket, or None if the machine has no such address."""
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        if family == socket.AF_INET6 and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        raise


if __name__ == "__main__":
    main()
