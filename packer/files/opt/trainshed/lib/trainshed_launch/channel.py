"""Messages between the main node and another: one JSON object in each line."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainshed_launch.time_limit import within

# A node that says nothing for so long is lost. Each says something every ALIVE_SECONDS.
SILENCE_SECONDS = 30
ALIVE_SECONDS = 1
# Of one message: a command may be as long as the system lets it.
LONGEST = 2**24
# The variable with a node's own address, where nodes share a machine: on an embedded AWS.
ADDRESS = "EMBEDDED_AWS_ADDRESS"
# The variable with a file like /etc/hosts, where pods of an embedded AWS share a machine.
_NAMES = "EMBEDDED_AWS_NAMES"


def own_name(environment: Mapping[str, str]) -> str:
    """Return the full name of this host."""
    for address, names in _named(environment):
        if address == environment.get(ADDRESS):
            return names[0]
    return socket.getfqdn()


def address_of(name: str, environment: Mapping[str, str]) -> str:
    """Return the address of a name that DNS does not know here, and any other as it is."""
    return next((address for address, names in _named(environment) if name in names), name)


def _named(environment: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    if _NAMES in environment:
        for line in Path(environment[_NAMES]).read_text(encoding="utf-8").splitlines():
            address, *names = line.partition("#")[0].split() or [""]
            if names:
                yield address, names


class Channel:
    """One connection.

    Args:
        reader: of the connection.
        writer: of the connection.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def peer(self) -> str:
        """The address of the other end."""
        return str(self._writer.get_extra_info("peername")[0])

    @property
    def here(self) -> str:
        """The address of this end, by which the other reached it."""
        return str(self._writer.get_extra_info("sockname")[0])

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message; nothing happens when the connection is gone, which `receive` reports."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps({"kind": kind, **fields}).encode() + b"\n")

    async def receive(self, seconds: float | None = SILENCE_SECONDS) -> dict[str, Any] | None:
        """Return the next message; None when the other end is gone, or silent for too long."""
        try:
            line = await within(seconds, self._reader.readline())
            message = json.loads(line) if line.endswith(b"\n") else None
        except (asyncio.TimeoutError, OSError, ValueError):
            return None
        return message if isinstance(message, dict) and "kind" in message else None

    async def stay_alive(self, fields: Callable[[], Mapping[str, Any]]) -> None:
        """Send a sign of life again and again, until cancelled.

        Args:
            fields: makes what is sent along.
        """
        while True:
            self.send("alive", **fields())
            await asyncio.sleep(ALIVE_SECONDS)

    def keep_until_exit(self) -> None:
        """Let the other end see the connection closed when this process has ended, not before."""
        os.dup(self._writer.get_extra_info("socket").fileno())

    async def close(self) -> None:
        """Close the connection, when all is sent."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return
