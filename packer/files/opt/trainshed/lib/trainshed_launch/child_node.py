"""A node that is not the main one: joins it, runs what it says, and reports how that went."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainshed_launch.channel import ADDRESS, LONGEST, Channel, address_of
from trainshed_launch.command import Nodes, node_command
from trainshed_launch.errors import PEER_LOST, LaunchError
from trainshed_launch.log import log
from trainshed_launch.notice import Notices, say_at_risk, seconds_left, write_deadline
from trainshed_launch.process import Process
from trainshed_launch.rendezvous import Rendezvous
from trainshed_launch.sent_files import unpacked
from trainshed_launch.settings import Settings
from trainshed_launch.this_node import ThisNode, examine
from trainshed_launch.time_limit import within

_RETRY_SECONDS = 1


class ChildNode:
    """The launcher of a child node.

    Attributes:
        unfit: this node lacks a device.

    Args:
        rendezvous: of this node.
        settings: of the launch; the command is what the main node says.
    """

    def __init__(self, rendezvous: Rendezvous, settings: Settings) -> None:
        self._rendezvous = rendezvous
        self._settings = settings
        self._process: Process | None = None
        self._sent: list[str] = []
        self.unfit = False
        self._notices = Notices(settings.environment)
        # Tasks that nobody refers to may be collected before they end.
        self._tasks: set[asyncio.Future[Any]] = set()

    async def run(self) -> int:
        """Join the main node and run what it says; return this node's exit code.

        Raises:
            LaunchError: the main node did not answer, sent this node away, or is lost.
        """
        here = await asyncio.to_thread(examine, self._settings.environment)
        self.unfit = here.unfit
        if here.problem:
            log(f"ERROR: this node takes no part: {here.problem}")
        channel = await self._join(here)
        if here.problem:
            await channel.close()
            return here.code
        alive = asyncio.ensure_future(channel.stay_alive(self._tail))
        files = ExitStack()
        try:
            while start := await channel.receive():
                if start["kind"] == "start":
                    named = Path(start["folder"]) if start["folder"] else None
                    folder = files.enter_context(unpacked(self._settings.sent_files, named))
                    return await self._work(channel, start, folder)
                if start["kind"] == "stop":
                    break
            raise LaunchError("the main node ended before the job began; read its log", PEER_LOST)
        finally:
            if self._process:
                await self._process.stop()
            for task in (alive, *self._tasks):
                task.cancel()
            await asyncio.wait([alive, *self._tasks])
            await channel.close()
            files.close()

    async def _join(self, node: ThisNode) -> Channel:
        wait, port = self._settings.wait, self._settings.port
        clock = asyncio.get_running_loop()
        deadline = clock.time() + wait
        environment = self._settings.environment
        here = environment.get(ADDRESS)
        main = self._rendezvous.main or ""
        log(f"node {self._rendezvous.index} joins the main node, {main}")
        while True:
            try:
                reader, writer = await within(
                    min(10, max(deadline - clock.time(), 1)),
                    asyncio.open_connection(
                        address_of(main, environment),
                        port,
                        local_addr=(here, 0) if here else None,
                        limit=LONGEST,
                    ),
                )
            except (OSError, asyncio.TimeoutError) as error:
                if clock.time() + _RETRY_SECONDS > deadline:
                    raise LaunchError(
                        f"the main node, {main}, does not answer on port {port} within "
                        f"{wait:.0f} s ({error or 'no answer'}); read its log, and let the nodes' "
                        "security group reach itself",
                        PEER_LOST,
                    ) from error
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            channel = Channel(reader, writer)
            channel.keep_until_exit()
            channel.send(
                "hello",
                job=self._rendezvous.job,
                index=self._rendezvous.index,
                problem=node.problem,
                code=node.code,
                instance=asdict(node.instance) if node.instance else None,
            )
            return channel

    async def _work(self, channel: Channel, start: Mapping[str, Any], folder: Path | None) -> int:
        environment = self._settings.environment
        nodes = Nodes(
            addresses=tuple(start["addresses"]), rank=start["rank"], processes=start["processes"]
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leave, channel)
        self._tasks.add(asyncio.ensure_future(self._watch(channel)))
        failed, deadline = 0, ""
        if start["command"]:
            try:
                command = node_command(start["command"], nodes, self._settings.folder)
                self._process = await Process.start(
                    command, {**environment, **nodes.environment}, folder
                )
            except LaunchError as error:
                log(f"ERROR: {error}")
                failed = error.code
                channel.send("ended", code=failed, tail=[str(error)])
            else:
                self._tasks.add(asyncio.ensure_future(self._report(channel, self._process)))
        while message := await channel.receive():
            if message["kind"] == "ping":
                channel.send("alive", **self._tail())
            elif message["kind"] == "run":
                self._tasks.add(asyncio.ensure_future(self._run(channel, message)))
            elif message["kind"] == "examine":
                self._tasks.add(asyncio.ensure_future(self._examine_again(channel)))
            elif message["kind"] == "deadline":
                deadline = message["deadline"]
                write_deadline(environment, deadline)
            elif message["kind"] == "stop":
                code = await self._stop(deadline) if self._process else failed
                # JobSet judges the exit code of every node, AWS Batch that of the main one.
                return PEER_LOST if self.unfit or message["again"] else code
        raise LaunchError(f"the main node, {self._rendezvous.main}, is lost", PEER_LOST)

    def _tail(self) -> dict[str, Any]:
        """Return the last lines of output, if there are new ones."""
        if self._process is None or self._process.tail == self._sent:
            return {}
        self._sent = self._process.tail
        return {"tail": self._sent}

    async def _report(self, channel: Channel, process: Process) -> None:
        code = await process.wait()
        channel.send("ended", code=code, **self._tail())

    async def _examine_again(self, channel: Channel) -> None:
        """Report the devices that were lost while the command ran."""
        here = await asyncio.to_thread(examine, self._settings.environment)
        self.unfit = here.unfit
        if here.problem:
            log(f"ERROR: this node lost a device while the command ran: {here.problem}")
        channel.send("examined", problem=here.problem)

    async def _run(self, channel: Channel, message: Mapping[str, Any]) -> None:
        """Run a command of mpirun's, as ssh would: by a shell."""
        process = await Process.start(
            ["/bin/sh", "-c", message["command"]], self._settings.environment
        )
        try:
            channel.send("ran", number=message["number"], code=await process.wait())
        finally:
            await process.stop()

    async def _stop(self, deadline: str) -> int:
        assert self._process
        return await (
            self._process.stop(seconds_left(deadline)) if deadline else self._process.stop()
        )

    async def _watch(self, channel: Channel) -> None:
        """Tell the main node when EC2 takes this node back: it ends the job on all nodes.

        And when EC2 may do so: who follows a job reads the log of its main node.
        """

        def at_risk() -> None:
            say_at_risk("this node")
            channel.send("at-risk")

        notice = await self._notices.wait(at_risk)
        channel.send("notice", deadline=notice.deadline, why=notice.kind)

    def _leave(self, channel: Channel) -> None:
        """This node alone is asked to end, or the whole job is: the main node knows which."""
        log("asked to end")
        if notice := self._notices.of_signal(drained=self._rendezvous.is_drained):
            channel.send("notice", deadline=notice.deadline, why=notice.kind)
            return
        channel.send("leaving")
        if self._process:
            self._tasks.add(asyncio.ensure_future(self._process.stop()))
