"""The process tree of one node of a job."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from embedded_aws.batch import node_init
from embedded_aws.batch.node_network import NodeNetwork

# Serves a connection that was accepted, with the address of the client.
Answer = Callable[[socket.socket, object], None]

_LINE_BYTES = 1 << 16
# [S] Amazon CloudWatch Logs user guide: an event has at most 256 KiB; here a line that is longer
# becomes several events.
_LONGEST_LINE = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTask:
    """What runs on a node.

    Attributes:
        index: of the node.
        command: program and arguments.
        environment: all its variables.
        folder: its working directory.
    """

    index: int
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who is told of a node; from a thread of the node.

    Attributes:
        started: the command runs.
        printed: lines of its output.
        ended: its exit code and, when it never ran, why.
    """

    started: Callable[[], None]
    printed: Callable[[Sequence[str]], None]
    ended: Callable[[int, str | None], None]


class NodeProcess:
    """A running node.

    Args:
        task: what it runs.
        network: that of the job.
        port: on which it reaches the embedded AWS.
        answer: serves its connections to that port, where it has a network of its own.
        lock: open file, locked until nothing of it is left.
        listener: is told of it.
    """

    def __init__(
        self,
        task: NodeTask,
        network: NodeNetwork,
        *,
        port: int,
        answer: Answer,
        lock: int,
        listener: Listener,
    ) -> None:
        self._answer = answer
        self._apart = network.apart
        self._listener = listener
        self._control, theirs = socket.socketpair()
        init = [sys.executable, "-I", "-S", node_init.__file__, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                network.command(task.index, init),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=[theirs.fileno(), lock],
                start_new_session=True,
            )
        order = {
            "command": list(task.command),
            "environment": dict(task.environment),
            "folder": str(task.folder),
            "port": port if network.apart else None,
        }
        # It may have ended already; then its output says why.
        with suppress(OSError):
            written = json.dumps(order).encode()
            size = len(written).to_bytes(node_init.SIZE_BYTES, sys.byteorder)
            self._control.sendall(size + written)
        threading.Thread(target=self._follow, daemon=True).start()

    def send(self, signal_number: int) -> None:
        """Send a signal to the command; one that has ended is not an error."""
        with suppress(OSError):
            self._control.sendall(bytes([signal_number]))

    def _follow(self) -> None:
        """Tell the listener all that happens, until the end."""
        listening = self._listen() if self._apart else None
        reply = self._reply()
        refused = reply.get("refused") if reply is not None else None
        if reply is not None and refused is None:
            self._listener.started()
        last = self._read_output()
        code = self._process.wait()
        if listening:
            # Ends the thread that accepts.
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
        self._control.close()
        if reply is None:
            refused = last or f"the node ended with exit code {code}"
        self._listener.ended(code, refused)

    def _listen(self) -> socket.socket | None:
        """Serve the connections to the node's own loopback."""
        with suppress(OSError):
            _, files, _, _ = socket.recv_fds(self._control, len(b"listening\n"), 1)
            if files:
                listening = socket.socket(fileno=files[0])
                threading.Thread(target=self._accept, args=[listening], daemon=True).start()
                return listening
        return None

    def _accept(self, listening: socket.socket) -> None:
        with listening, suppress(OSError):
            while True:
                self._answer(*listening.accept())

    def _reply(self) -> dict[str, str] | None:
        """Return what the node says of its command; None when it has no more to say."""
        read = b""
        with suppress(OSError):
            while part := self._control.recv(_LINE_BYTES):
                read += part
                if read.endswith(b"\n"):
                    reply: dict[str, str] = json.loads(read)
                    return reply
        return None

    def _read_output(self) -> str:
        """Pass the output on, as it comes; return its last line."""
        assert self._process.stdout
        last, rest = "", b""
        with self._process.stdout as output:
            while part := os.read(output.fileno(), _LINE_BYTES):
                *lines, rest = (rest + part).split(b"\n")
                if len(rest) > _LONGEST_LINE:
                    lines, rest = [*lines, rest], b""
                if lines:
                    texts = [line.decode(errors="replace") for line in lines]
                    last = texts[-1]
                    self._listener.printed(texts)
        if rest:
            last = rest.decode(errors="replace")
            self._listener.printed([last])
        return last
