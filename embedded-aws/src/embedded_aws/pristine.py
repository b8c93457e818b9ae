"""A process that is prepared once and forks the process that serves.

Seeding takes moto a second or more: it builds thousands of images and policies. Here it is done
once. A reset is a new fork of the prepared process, which takes milliseconds and cannot keep
anything of the state before.
"""

import json
import os
import select
import signal
import socket
from collections.abc import Callable
from datetime import date
from typing import NoReturn

# Runs in a forked process: serves as of a day, until the channel ends.
Serve = Callable[[date | None, "PristineChannel"], None]

# The server's argument that has it end with its standard input.
WATCH_STDIN = "--watch-stdin"
_NO_CONTENT = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
_ORDER_BYTES = 64


class PristineChannel:
    """A serving process's connection to the pristine one."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def start_over(self, client: socket.socket, as_of: date | None) -> NoReturn:
        """Ask to be replaced by a fresh process as of the given day.

        Args:
            client: the connection to answer with 204 once the fresh process serves.
            as_of: the day.
        """
        order = json.dumps(as_of and as_of.isoformat()).encode()
        socket.send_fds(self._end, [order], [client.fileno()])
        while True:
            signal.pause()

    def wait_for_end(self) -> None:
        """Return when the pristine process has ended, for whatever reason."""
        self._end.recv(1)


def keep_serving(
    serve: Serve, as_of: date | None, *, ready: Callable[[], None], watch_stdin: bool
) -> int:
    """Keep one forked process serving; return when it crashes or standard input ends.

    Call it only while this process has a single thread.

    Args:
        serve: runs in the forked process.
        as_of: the day of the first process.
        ready: called when the first process has been forked.
        watch_stdin: return 0 when standard input ends.

    Returns:
        0, or the crashed process's code.
    """
    pid, channel = _fork(serve, as_of)
    try:
        ready()
        watched = [channel.fileno(), *([0] if watch_stdin else [])]
        while True:
            readable, _, _ = select.select(watched, [], [])
            if 0 in readable:
                return 0
            order, clients, _, _ = socket.recv_fds(channel, _ORDER_BYTES, 1)
            if not order:
                _, status = os.waitpid(pid, 0)
                pid = 0
                return os.waitstatus_to_exitcode(status) or 1
            _end(pid)
            channel.close()
            day = json.loads(order)
            pid, channel = _fork(serve, day and date.fromisoformat(day))
            watched[0] = channel.fileno()
            with socket.socket(fileno=clients[0]) as client:
                client.sendall(_NO_CONTENT)
    finally:
        if pid:
            _end(pid)


def _fork(serve: Serve, as_of: date | None) -> tuple[int, socket.socket]:
    """Fork a serving process; return its id and our end of its channel."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        return pid, ours
    ours.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        serve(as_of, PristineChannel(theirs))
    finally:
        # The forked process must not run the exit handlers of its parent.
        os._exit(0)


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
