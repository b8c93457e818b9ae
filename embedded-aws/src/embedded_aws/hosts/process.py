"""A command that runs on a host."""

import json
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from embedded_aws.hosts.container import Container
from embedded_aws.hosts.init import TO_GROUP

_LINE_BYTES = 1 << 16
# Amazon CloudWatch Logs user guide: an event has at most 256 KiB; here a line that is longer
# becomes several events.
_LONGEST_LINE = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What runs on a host.

    Attributes:
        words: program and arguments.
        environment: all its variables.
        folder: its working directory, but in a container.
        only: the host ends with it, and with all that it started.
        container: in which it runs; None on the machine's own files.
        name: that no other command of the host has, by which others run beside it; what is left of
            its process group ends with it. Empty for neither.
        beside: name of a command that runs, into whose container it goes; or empty.
    """

    words: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    only: bool = False
    container: Container | None = None
    name: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who hears of a command; from threads of the process.

    Attributes:
        started: the command runs.
        printed: lines of its standard output, each with its end.
        complained: the same of its standard error; None if that is part of its output.
        ended: its exit code, -n when signal n ended it, None when its host ended first; and, when
            it never ran, why. Nobody has its output open any more.
    """

    started: Callable[[], None]
    printed: Callable[[Sequence[str]], None]
    complained: Callable[[Sequence[str]], None] | None = None
    ended: Callable[[int | None, OSError | None], None]


class HostProcess:
    """A running command.

    Args:
        control: tells of the command, and takes its signals.
        output: read end of its standard output.
        errors: read end of its standard error; None if that is part of its output.
        listener: hears of it.
        host_problem: returns why the host could not run it, once the host has ended.
    """

    def __init__(
        self,
        control: socket.socket,
        output: int,
        errors: int | None,
        listener: Listener,
        host_problem: Callable[[], str],
    ) -> None:
        self._control = control
        self._listener = listener
        self._host_problem = host_problem
        readers = [(output, listener.printed)]
        if errors is not None:
            assert listener.complained
            readers.append((errors, listener.complained))
        self._readers = [
            threading.Thread(target=_read_output, args=reader, daemon=True) for reader in readers
        ]
        threading.Thread(target=self._follow, daemon=True).start()

    def send(self, signal_number: int) -> None:
        """Send a signal to the command; one that has ended is not an error."""
        self._write(signal_number)

    def send_group(self, signal_number: int) -> None:
        """Send a signal to the command and whatever of its children is in its process group."""
        self._write(TO_GROUP + signal_number)

    def _write(self, byte: int) -> None:
        with suppress(OSError):
            self._control.sendall(bytes([byte]))

    def _follow(self) -> None:
        """Report to the listener all that happens, until the end."""
        with self._control.makefile("r") as replies:
            reply = _next(replies)
            if reply is not None and "refused" not in reply:
                self._listener.started()
            for reader in self._readers:
                reader.start()
            end = _next(replies) if reply is not None else None
        for reader in self._readers:
            reader.join()
        refused = None
        if reply is None:
            refused = OSError(self._host_problem())
        elif "refused" in reply:
            why = reply["refused"]
            refused = OSError(why, os.strerror(why)) if isinstance(why, int) else OSError(why)
        self._control.close()
        self._listener.ended(end["code"] if end else None, refused)


def _next(replies: TextIO) -> dict[str, Any] | None:
    """Return what the host says of a command; None when it has no more to say."""
    # A host that ends has perhaps not read all that it was sent, which resets the connection.
    with suppress(OSError):
        line = replies.readline()
        if line.endswith("\n"):
            reply: dict[str, Any] = json.loads(line)
            return reply
    return None


def _read_output(file: int, pass_on: Callable[[Sequence[str]], None]) -> None:
    """Pass the output on, as it comes."""
    rest = b""
    while part := os.read(file, _LINE_BYTES):
        *lines, rest = (rest + part).split(b"\n")
        lines = [line + b"\n" for line in lines]
        if len(rest) > _LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        if lines:
            pass_on([line.decode(errors="replace") for line in lines])
    os.close(file)
    if rest:
        pass_on([rest.decode(errors="replace")])
