"""Running mpirun's daemons on other nodes, in the place of ssh.

mpirun calls the agent as it would call ssh, with a node and a command. The agent asks the launcher
of the main node over a socket that only this user can open, and the launcher asks the node. So
containers need no ssh server and no keys.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from trainshed_launch.channel import LONGEST, Channel

# Runs a command of the shell on a node, and returns its exit code.
RunOn = Callable[[str, str], Awaitable[int]]

_SOCKET = "agent.sock"


class AgentServer:
    """Answers the agents of one mpirun.

    Args:
        folder: that only this user can open.
        program: of the launcher.
        run_on: runs a command on a node.

    Attributes:
        program: what mpirun calls in place of ssh.
    """

    def __init__(self, folder: Path, program: Path, run_on: RunOn) -> None:
        self._run_on = run_on
        self._answers: set[asyncio.Task[None]] = set()
        self.program = folder / "agent"
        # From its folder, as a socket's path has at most 107 bytes: unix(7).
        change = shlex.join(["cd", str(folder)])
        command = shlex.join([sys.executable, str(program), "--agent", _SOCKET])
        self.program.write_text(f'#!/bin/sh\n{change} && exec {command} "$@"\n', encoding="utf-8")
        self.program.chmod(0o700)

    async def start(self) -> None:
        """Begin to listen."""
        self._folder = os.open(self.program.parent, os.O_RDONLY)
        self._server = await asyncio.start_unix_server(
            self._connected, f"/proc/self/fd/{self._folder}/{_SOCKET}", limit=LONGEST
        )

    async def close(self) -> None:
        """End, when the commands that run have ended."""
        self._server.close()
        os.close(self._folder)
        if self._answers:
            await asyncio.wait(self._answers)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answers.add(asyncio.ensure_future(self._answer(Channel(reader, writer))))

    async def _answer(self, channel: Channel) -> None:
        asked = await channel.receive()
        if asked:
            channel.send("ended", code=await self._run_on(asked["node"], asked["command"]))
        await channel.close()


async def ask_agent(socket: Path, arguments: Sequence[str]) -> int:
    """Run a command on a node; return its exit code.

    Args:
        socket: of the launcher of this node.
        arguments: ssh's: options, the node, the words of the command.
    """
    words = list(arguments)
    while words and words[0].startswith("-"):
        del words[0]
    channel = Channel(*await asyncio.open_unix_connection(socket, limit=LONGEST))
    channel.send("run", node=words[0], command=" ".join(words[1:]))
    ended = await channel.receive(seconds=None)
    return int(ended["code"]) if ended else 255
