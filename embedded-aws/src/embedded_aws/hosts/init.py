"""The first process of a host, with the arguments CONTROL and PORT, started by `host.py`.

It runs commands, and ends with all that they started when the other end of CONTROL, a socket, is
closed, which the system does when the embedded AWS is killed. In a process namespace the kernel
ends the rest with this process; elsewhere this process adopts what loses its parent, and kills it.

If PORT is not 0, it listens there, in the host's own network, and passes the socket on. Then it
reads orders from CONTROL: a number of bytes with files (a socket, and for a command its standard
output and standard error), and so many bytes of JSON. `{"connect": [ADDRESS, PORT]}` is answered
with a byte and a connection in the host's own network, or not at all; `{"listen": [ADDRESS, PORT]}`
gives the host an address that leads nowhere else, and is answered with a byte and a socket that
listens there. All other orders are commands; with one that has a `name` ends its process group, and
one that is `beside` another goes into its container. To the socket of a command it writes lines of
JSON: `{}` when the command runs, `{"refused": ...}`, an error number or a text, when it cannot run,
and `{"code": ...}` when it has ended, -n when signal n ended it. For each byte that it reads there,
it sends the command a signal; if the byte is 128 or more, it sends the signal 128 less to the
command's process group.
"""

import ctypes
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from embedded_aws.hosts import container
from embedded_aws.hosts.container import Contained, Container, ContainerProblem
from embedded_aws.hosts.container_mounts import Bound, Files, Memory

# prctl(2).
_PR_SET_CHILD_SUBREAPER = 36
SIZE_BYTES = 4
# Within a host: somebody listens and takes it, or nobody does. All else waits meanwhile.
_CONNECT_SECONDS = 1
TO_GROUP = 128


def main() -> NoReturn:
    """Run the commands that are ordered."""
    control, port = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    _adopt()
    if port:
        with socket.create_server(("127.0.0.1", port), backlog=128) as listening:
            socket.send_fds(control, [b"listening\n"], [listening.fileno()])
    # A byte for each SIGCHLD, so that one poll waits for everything.
    ended, write = socket.socketpair()
    write.setblocking(False)
    signal.set_wakeup_fd(write.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _Commands(control, ended).run()


class _Commands:
    """The commands that run.

    Args:
        control: gives the orders.
        ended: readable when a process may have ended.
    """

    def __init__(self, control: socket.socket, ended: socket.socket) -> None:
        self._control, self._ended = control, ended
        # Each command by its socket's file, and the sockets. Python would itself wait for a process
        # whose object is gone.
        self._processes: dict[int, subprocess.Popen[bytes] | Contained] = {}
        self._sockets: dict[int, socket.socket] = {}
        # Those with a name, for others that run beside them.
        self._named: dict[str, int] = {}
        # The command with which the host ends.
        self._only: int | None = None
        self._poll = select.poll()
        for watched in (control, ended):
            self._poll.register(watched, select.POLLIN)

    def run(self) -> NoReturn:
        """Follow orders until there are no more."""
        while True:
            for file, _ in self._poll.poll():
                if file == self._control.fileno():
                    self._follow_order()
                elif file == self._ended.fileno():
                    self._ended.recv(64)
                    self._note_ends()
                elif file in self._sockets:
                    self._send_signals(file)

    def _follow_order(self) -> None:
        first, files, _, _ = socket.recv_fds(self._control, SIZE_BYTES, 3)
        if not first:
            _end()
        order = json.loads(_read(self._control, int.from_bytes(first, sys.byteorder)))
        for name, follow in (("connect", _connect), ("listen", _listen)):
            if name in order:
                follow(socket.socket(fileno=files[0]), *order[name])
                return
        own, output, errors = files
        asker = socket.socket(fileno=own)
        try:
            command = self._start(order, output, errors)
        except (OSError, ContainerProblem) as error:
            _say(asker, refused=error.errno if isinstance(error, OSError) else str(error))
            asker.close()
            if order["only"]:
                _end()
        else:
            _say(asker)
            self._processes[own], self._sockets[own] = command, asker
            self._named |= {order["name"]: own} if order["name"] else {}
            self._only = command.pid if order["only"] else self._only
            self._poll.register(asker, select.POLLIN)
        finally:
            os.close(output)
            os.close(errors)

    def _start(
        self, order: dict[str, Any], output: int, errors: int
    ) -> subprocess.Popen[bytes] | Contained:
        """Start a command, on the machine's files or in a container."""
        beside = None
        if name := order["beside"]:
            running = self._processes.get(self._named.get(name, -1))
            if running is None:
                raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
            beside = running.pid
        words, environment = order["command"], order["environment"]
        if order["container"]:
            files = _container(order["container"])
            return container.start(files, words, environment, output, errors, beside=beside)
        return subprocess.Popen(
            words,
            cwd=order["folder"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )

    def _send_signals(self, file: int) -> None:
        numbers = self._sockets[file].recv(64)
        if not numbers:
            self._poll.unregister(file)
        for number in numbers:
            with suppress(ProcessLookupError):
                if number < TO_GROUP:
                    os.kill(self._processes[file].pid, number)
                else:
                    os.killpg(self._processes[file].pid, number - TO_GROUP)

    def _note_ends(self) -> None:
        while found := _reaped():
            pid, status = found
            for file in [file for file, each in self._processes.items() if each.pid == pid]:
                code = self._processes.pop(file).returncode = os.waitstatus_to_exitcode(status)
                if file in self._named.values():
                    # As a container does. Nobody else has the group's number while it has members.
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(pid, signal.SIGKILL)
                _say(self._sockets[file], code=code)
                if pid == self._only:
                    _end()
                with suppress(KeyError):
                    self._poll.unregister(file)
                self._sockets.pop(file).close()
                self._named = {name: each for name, each in self._named.items() if each != file}


def _connect(asker: socket.socket, address: str, port: int) -> None:
    with (
        asker,
        suppress(OSError),
        socket.create_connection((address, port), _CONNECT_SECONDS) as found,
    ):
        found.settimeout(None)
        socket.send_fds(asker, [b"."], [found.fileno()])


def _listen(asker: socket.socket, address: str, port: int) -> None:
    with asker, suppress(OSError):
        # It may have it for another port.
        command = ["ip", "address", "add", f"{address}/32", "dev", "lo"]
        subprocess.run(command, capture_output=True)
        with socket.create_server((address, port), backlog=128) as listening:
            socket.send_fds(asker, [b"."], [listening.fileno()])


def _container(found: dict[str, Any]) -> Container:
    files = found["files"]
    files["bound"] = [Bound(**each) for each in files["bound"]]
    files["memory"] = [Memory(**each) for each in files["memory"]]
    return Container(**found | {"files": Files(**files)})


def _say(asker: socket.socket, **reply: Any) -> None:
    """Write a line about a command; nobody may listen any more."""
    with suppress(OSError):
        asker.sendall(json.dumps(reply).encode() + b"\n")


def _read(control: socket.socket, size: int) -> bytes:
    read = b""
    # No more than that: other orders may follow.
    while len(read) < size:
        part = control.recv(size - len(read))
        if not part:
            _end()
        read += part
    return read


def _adopt() -> None:
    if sys.platform == "linux" and os.getpid() != 1:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reaped() -> tuple[int, int] | None:
    with suppress(ChildProcessError):
        pid, status = os.waitpid(-1, os.WNOHANG)
        return (pid, status) if pid else None
    return None


def _end() -> NoReturn:
    """Kill what is left, and what is adopted meanwhile, until there is nothing."""
    if os.getpid() != 1:
        with suppress(ChildProcessError):
            while True:
                for pid in _descendants():
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                os.waitpid(-1, 0)
    os._exit(0)


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # proc(5): the name may contain spaces and parentheses.
            after_name = path.read_text(errors="replace").rpartition(")")[2]
            parents[int(path.parent.name)] = int(after_name.split()[1])
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]
