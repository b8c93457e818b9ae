"""The processes of one instance on this machine: all end with their host."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from embedded_aws.hosts import init
from embedded_aws.hosts.process import Command, HostProcess, Listener

# Serves a connection that was accepted, with the address of the client.
Answer = Callable[[socket.socket, object], None]
# `-I` and `-S` make it start in half the time; then only this package is found.
_INIT = (
    "import sys; sys.path.append(sys.argv.pop(1)); from embedded_aws.hosts.init import main; main()"
)
_PACKAGES = str(Path(__file__).parents[2])
# Returns a command that runs another one where the host is.
Joining = Callable[[Sequence[str]], list[str]]


class Host:
    """A host.

    Args:
        joining: how a command gets to the host; None for one that shares the machine's network.
        port: of the embedded AWS, which a host with a network of its own reaches there.
        answer: serves its connections to that port.
        lock: open file, locked until nothing of the host is left.
    """

    def __init__(self, joining: Joining | None, *, port: int, answer: Answer, lock: int) -> None:
        self._answer = answer
        self._ordering = threading.Lock()
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-I", "-S", "-c", _INIT, _PACKAGES]
            command += [str(theirs.fileno()), str(port if joining else 0)]
            self._process = subprocess.Popen(
                joining(command) if joining else command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=[theirs.fileno(), lock],
                start_new_session=True,
            )
        self._listening = list(self._listen()) if joining else []

    def run(self, command: Command, listener: Listener) -> HostProcess:
        """Start a command; if the host has ended, the listener hears of it."""
        control, theirs = socket.socketpair()
        output, output_end = os.pipe()
        errors, errors_end = os.pipe() if listener.complained else (None, output_end)
        order = {
            "command": list(command.words),
            "environment": dict(command.environment),
            "folder": str(command.folder),
            "only": command.only,
            "container": asdict(command.container) if command.container else None,
            "name": command.name,
            "beside": command.beside,
        }
        with theirs:
            self._order(order, [theirs.fileno(), output_end, errors_end])
        for end in {output_end, errors_end}:
            os.close(end)
        return HostProcess(control, output, errors, listener, self._problem)

    def connect(self, address: str, port: int) -> socket.socket | None:
        """Return a connection to what listens in the host's own network, or None."""
        return self._socket({"connect": [address, port]})

    def serve(self, address: str, port: int, answer: Answer) -> None:
        """Serve what is asked of an address in the host's own network, which only it has.

        Args:
            address: for instance of a service.
            port: of it.
            answer: serves each connection.
        """
        if listening := self._socket({"listen": [address, port]}):
            self._listening.append(listening)
            _accept_from(listening, answer)

    def _socket(self, order: Mapping[str, Any]) -> socket.socket | None:
        """Return the socket by which an order is answered, or None."""
        asker, theirs = socket.socketpair()
        with theirs, asker:
            self._order(order, [theirs.fileno()])
            theirs.close()
            with suppress(OSError):
                _, files, _, _ = socket.recv_fds(asker, 1, 1)
                if files:
                    return socket.socket(fileno=files[0])
        return None

    def close(self) -> None:
        """End whatever runs on the host; return when nothing is left."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._process.wait()
        for listening in self._listening:
            # Ends the thread that accepts.
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
        self._control.close()

    def _order(self, order: Mapping[str, Any], files: Sequence[int]) -> None:
        written = json.dumps(order).encode()
        size = len(written).to_bytes(init.SIZE_BYTES, sys.byteorder)
        with self._ordering, suppress(OSError):
            socket.send_fds(self._control, [size], files)
            self._control.sendall(written)

    def _problem(self) -> str:
        """Return what the host printed last, after it has ended."""
        assert self._process.stdout
        code = self._process.wait()
        lines = self._process.stdout.read().decode(errors="replace").splitlines()
        return lines[-1] if lines else f"the host ended with exit code {code}"

    def _listen(self) -> Iterator[socket.socket]:
        """Serve the connections to the host's own loopback."""
        with suppress(OSError):
            _, files, _, _ = socket.recv_fds(self._control, len(b"listening\n"), 1)
            for file in files:
                listening = socket.socket(fileno=file)
                _accept_from(listening, self._answer)
                yield listening


def _accept_from(listening: socket.socket, answer: Answer) -> None:
    """Serve connections, in a thread that ends with the socket."""

    def accept() -> None:
        with listening, suppress(OSError):
            while True:
                answer(*listening.accept())

    threading.Thread(target=accept, daemon=True).start()
