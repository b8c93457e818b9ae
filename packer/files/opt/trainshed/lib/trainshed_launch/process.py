"""A command on this node: its output is passed on, and its last lines are kept."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from trainshed_launch.errors import LaunchError

_TAIL_BYTES = 4096
_TAIL_LINES = 20
# AWS Batch kills a container 30 seconds after SIGTERM.
_GRACE_SECONDS = 25
_LAST_OUTPUT_SECONDS = 2


class Process:
    """A running command, in a process group of its own.

    Args:
        process: started by `start`.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._tail = b""
        self._ended = asyncio.ensure_future(self._run())

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
    ) -> Process:
        """Start a command.

        Args:
            command: program and arguments.
            environment: all its variables.
            folder: in which it starts; by default the launcher's own.

        Raises:
            LaunchError: there is no such command, or it cannot be run.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=dict(environment),
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            # As shells do.
            code = 127 if isinstance(error, FileNotFoundError) else 126
            raise LaunchError(f"{command[0]} cannot be started: {error.strerror}", code) from error
        return cls(process)

    @property
    def tail(self) -> list[str]:
        """The last lines of its output."""
        return self._tail.decode(errors="replace").splitlines()[-_TAIL_LINES:]

    async def wait(self) -> int:
        """Wait for its end; return its exit code, or 128 and the number of the signal."""
        return await asyncio.shield(self._ended)

    def signal(self, number: int) -> None:
        """Send a signal to all its processes."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    async def stop(self, grace: float = _GRACE_SECONDS) -> int:
        """End it: SIGTERM, so that it can write a checkpoint, and SIGKILL when that takes long.

        Args:
            grace: seconds between both.
        """
        self.signal(signal.SIGTERM)
        await asyncio.wait([self._ended], timeout=grace)
        self.signal(signal.SIGKILL)
        return await self.wait()

    async def _run(self) -> int:
        relay = asyncio.ensure_future(self._relay())
        code = await self._process.wait()
        # What it started and left behind may keep its output open.
        await asyncio.wait([relay], timeout=_LAST_OUTPUT_SECONDS)
        return code if code >= 0 else 128 - code

    async def _relay(self) -> None:
        output = self._process.stdout
        assert output is not None
        while chunk := await output.read(65536):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
