"""The server process: `python -m embedded_aws.server`, started by `process.py` only.

It prints one line of JSON on standard output: `{"port": ...}` once it answers requests, or
`{"error": ...}` when it cannot start for a reason that is not a bug.
"""

import errno
import fcntl
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.pristine import WATCH_STDIN, PristineChannel, keep_serving
from embedded_aws.settings import ServerSettings

# Serves as of a day until its channel ends: sockets and a file to lock come first.
_Serve = Callable[[Sequence[socket.socket], Path, date | None, PristineChannel], None]
_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
_TRIES = 20
# Locked, shared, by what guests and hosts have on this machine.
_LOCK = "in-use.lock"


def main() -> None:
    """Serve until SIGTERM or, if its arguments say so, until standard input ends.

    The first line of standard input has the settings, as JSON.
    """
    settings = ServerSettings.from_json(sys.stdin.readline())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        sockets = _listen(settings.port)
    except EmbeddedAwsError as error:
        _announce(error=str(error))
        sys.exit(1)
    settings = replace(settings, port=sockets[0].getsockname()[1])
    # The environment that process.py gives has all else that leads AWS's clients here.
    os.environ |= {
        "AWS_ENDPOINT_URL": settings.endpoint,
        "MOTO_PORT": str(settings.port),
        # No web page may read an answer.
        "MOTO_DISABLE_GLOBAL_CORS": "true",
    }
    serve = _load_and_seed(settings)
    with TemporaryDirectory(prefix="embedded-aws-", ignore_cleanup_errors=True) as folder:
        lock = Path(folder) / _LOCK
        # The serving process ends by SIGKILL; this one removes its files.
        try:
            code = keep_serving(
                partial(serve, sockets, lock),
                settings.as_of,
                ready=partial(_announce, port=settings.port),
                watch_stdin=WATCH_STDIN in sys.argv,
            )
        except SystemExit:
            code = 0
        _wait_for_the_rest(lock)
    # The interpreter's normal shutdown would take seconds to free memory.
    os._exit(code)


def _wait_for_the_rest(lock: Path) -> None:
    """Return when no guest and no process is left: when nothing locks their file any more."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def _announce(**facts: object) -> None:
    """Print the one line, then close the pipe: the parent may end."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def _load_and_seed(settings: ServerSettings) -> _Serve:
    """Load and seed without garbage collection, which makes it a third faster.

    All that serving processes need is loaded here, so that none does it again after a reset.
    """
    gc.disable()
    from embedded_aws import service_models
    from embedded_aws.service_folders import BEFORE_MOTO, service_modules

    service_models.share()
    service_models.load_usual()
    gc.freeze()
    for module in service_modules(BEFORE_MOTO):
        module.start()
    # moto reads its environment on import.
    from embedded_aws.application import build_application
    from embedded_aws.hooks import when_loaded
    from embedded_aws.serving import serve

    moto = build_application(settings)
    when_loaded.call()
    gc.freeze()
    gc.enable()
    return partial(serve, moto, settings)


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
