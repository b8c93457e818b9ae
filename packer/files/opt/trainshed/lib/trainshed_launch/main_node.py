"""The main node: waits for all nodes, starts the command on each, decides how the job ends."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from trainshed_launch.agent import AgentServer
from trainshed_launch.channel import ADDRESS, LONGEST, Channel
from trainshed_launch.command import Nodes, mpi_environment, node_command, runs_on_main_only
from trainshed_launch.errors import PEER_LOST, LaunchError
from trainshed_launch.log import log, log_tail
from trainshed_launch.notice import Notice, Notices, say_at_risk, seconds_left, write_deadline
from trainshed_launch.process import Process
from trainshed_launch.rendezvous import Rendezvous
from trainshed_launch.sent_files import unpacked
from trainshed_launch.settings import Settings
from trainshed_launch.this_node import examine
from trainshed_launch.time_limit import within
from trainshed_launch.topology import TopologyUnknown, order_by_network
from trainshed_node.instance import Instance

_REMIND_SECONDS = 15
# How long a failure waits for its cause: a lost node makes the others fail first.
_SETTLE_SECONDS = 5
# How long a command may take to end by itself when a notice has come.
_MOMENT_SECONDS = 1
# What the children of an ended job may take. AWS Batch kills this node 30 seconds after SIGTERM, of
# which its own command may take 25.
_LEAVE_SECONDS = 4
# How long nodes may examine their devices; each tool that hangs is given up after two minutes.
_EXAMINE_SECONDS = 300
_SSH_FAILED = 255


class _Child:
    """A child node that has joined.

    Args:
        hello: what it said when it joined.
        channel: to it.
    """

    def __init__(self, hello: Mapping[str, Any], channel: Channel) -> None:
        self.index: int = hello["index"]
        self.problem: str = hello["problem"]
        self.problem_code: int = hello["code"]
        self.instance = Instance(**hello["instance"]) if hello["instance"] else None
        self.channel = channel
        self.address = channel.peer
        self.tail: list[str] = []
        self.code: int | None = None
        self.examined = False
        self.lost = False
        self.gone = False
        self.answered = False
        self.leaving = False
        self.runs: dict[int, asyncio.Future[int]] = {}

    def __str__(self) -> str:
        return f"node {self.index} ({self.address})"

    def end_runs(self) -> None:
        """Wait no longer for the commands of mpirun on this node."""
        while self.runs:
            self.runs.popitem()[1].set_result(_SSH_FAILED)


class MainNode:
    """The launcher of the main node.

    Attributes:
        unfit: this node lacks a device.

    Args:
        rendezvous: of this node.
        settings: of the launch.
    """

    def __init__(self, rendezvous: Rendezvous, settings: Settings) -> None:
        self._rendezvous = rendezvous
        self._settings = settings
        self._children: dict[int, _Child] = {}
        # A child joined, answered, ended or is lost, or the command here ended.
        self._changed = asyncio.Event()
        self._numbers = count()
        self._main_only = runs_on_main_only(settings.command)
        self._terminated = False
        # A node is lost, so that the orchestrator is to start all of them again.
        self._again = False
        self._here = ""
        self._instance: Instance | None = None
        self._notices = Notices(settings.environment)
        # To a node of the job, which the text names.
        self._notice: tuple[str, Notice] | None = None
        self.unfit = False

    async def run(self) -> int:
        """Run the command on all nodes; return the exit code of the job.

        Raises:
            LaunchError: a node did not come or takes no part, or the command cannot be started.
        """
        here = self._settings.environment.get(ADDRESS)
        port = self._settings.port
        try:
            server = await asyncio.start_server(self._meet, here, port, limit=LONGEST)
        except OSError as error:
            raise LaunchError(
                f"cannot listen on port {port}: {os.strerror(error.errno or 0)}; give every node "
                "another one with --port"
            ) from error
        files = ExitStack()
        try:
            # The others may join meanwhile, so that they hear of what is wrong here.
            this_node = await asyncio.to_thread(examine, self._settings.environment)
            self.unfit = this_node.unfit
            if this_node.problem:
                raise LaunchError(f"this node takes no part: {this_node.problem}", this_node.code)
            self._instance = this_node.instance
            await self._wait_for_children(self._settings.wait)
            folder = files.enter_context(unpacked(self._settings.sent_files))
            code = await self._run_job(folder)
            self._again = code == PEER_LOST
            return code
        finally:
            server.close()
            await self._dismiss()
            files.close()

    async def _dismiss(self) -> None:
        """Let the children end first: AWS Batch stops what runs when the main node has ended."""
        clock = asyncio.get_running_loop()
        deadline = clock.time() + _LEAVE_SECONDS
        # One that was about to join may come meanwhile.
        children = [*self._children.values()]
        for child in children:
            child.channel.send("stop", again=self._again)
        while clock.time() < deadline and not all(child.gone or child.lost for child in children):
            await self._next_change(deadline - clock.time())
        for child in children:
            await child.channel.close()

    async def _wait_for_children(self, wait: float) -> None:
        clock = asyncio.get_running_loop()
        deadline, remind = clock.time() + wait, 0.0
        while missing := self._missing():
            self._refuse_unfit()
            left = deadline - clock.time()
            names = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
            if left <= 0:
                raise LaunchError(
                    f"node {names} of {self._rendezvous.nodes} did not come within {wait:.0f} s; "
                    "read the log of its boot and of its container",
                    PEER_LOST,
                )
            if clock.time() >= remind:
                pulls = ": it may still pull the image" if self._rendezvous.pulls_image else ""
                nodes = self._rendezvous.nodes
                log(f"waiting for node {names} of {nodes}, {left:.0f} s more{pulls}")
                remind = clock.time() + _REMIND_SECONDS
            await self._next_change(min(left, remind - clock.time()))
        self._refuse_unfit()

    def _refuse_unfit(self) -> None:
        for child in self._children.values():
            if child.problem:
                raise LaunchError(f"{child} takes no part: {child.problem}", child.problem_code)

    def _missing(self) -> list[int]:
        there = {self._rendezvous.index, *self._children}
        return sorted(set(range(self._rendezvous.nodes)) - there)

    async def _next_change(self, seconds: float | None = None) -> None:
        self._changed.clear()
        try:
            await within(seconds, self._changed.wait())
        except asyncio.TimeoutError:
            return

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, until the child is gone."""
        channel = Channel(reader, writer)
        hello = await channel.receive() or {}
        index = hello.get("index")
        if hello.get("job") != self._rendezvous.job or index not in self._missing():
            log(f"{channel.peer} is refused: it is not a missing node of this job")
            await channel.close()
            return
        child = self._children[index] = _Child(hello, channel)
        self._changed.set()
        alive = asyncio.ensure_future(channel.stay_alive(dict))
        while message := await channel.receive():
            child.answered = True
            child.tail = message.get("tail", child.tail)
            if message["kind"] == "ended":
                child.code = message["code"]
            elif message["kind"] == "examined":
                child.problem, child.examined = message["problem"], True
            elif message["kind"] == "ran":
                child.runs.pop(message["number"]).set_result(message["code"])
            elif message["kind"] == "leaving":
                child.leaving = True
            elif message["kind"] == "at-risk":
                say_at_risk(str(child))
            elif message["kind"] == "notice":
                self._take(str(child), Notice(message["deadline"], message["why"]))
            self._changed.set()
        alive.cancel()
        child.gone = True
        child.lost = child.code is None
        child.end_runs()
        self._changed.set()

    async def _run_job(self, folder: Path | None) -> int:
        settings = self._settings
        children = await self._ranked()
        self._here = children[0].channel.here if children else "127.0.0.1"
        addresses = (self._here, *(child.address for child in children))
        if children:
            log(f"{len(addresses)} nodes: {' '.join(addresses)}")
        nodes = Nodes(addresses=addresses, rank=0, processes=settings.processes)
        agent = AgentServer(settings.folder, settings.program, self._run_on)
        await agent.start()
        for rank, child in enumerate(children, start=1):
            child.channel.send(
                "start",
                addresses=addresses,
                rank=rank,
                processes=settings.processes,
                folder=str(folder) if folder else None,
                command=None if self._main_only else list(settings.command),
            )
        process = await Process.start(
            node_command(settings.command, nodes, settings.folder),
            {**settings.environment, **nodes.environment, **mpi_environment(agent.program)},
            folder,
        )
        own = asyncio.ensure_future(process.wait())
        own.add_done_callback(lambda _: self._changed.set())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._terminate, process)
        watching = asyncio.ensure_future(self._watch())
        try:
            while (code := await self._outcome(own)) is None:
                if self._notice and not self._terminated:
                    if await self._has_succeeded(own):
                        return 0
                    return await self._end_in_time(process, *self._notice)
                await self._next_change()
            return code
        finally:
            watching.cancel()
            await process.stop()
            for child in children:
                child.end_runs()
            await agent.close()

    async def _ranked(self) -> list[_Child]:
        """Return the children in the order of their ranks: 1, 2 and so on."""
        children = [self._children[index] for index in sorted(self._children)]
        if len(children) < 2:
            return children
        instances = [self._instance, *(child.instance for child in children)]
        try:
            order = await asyncio.to_thread(order_by_network, instances)
        except TopologyUnknown as error:
            log(f"ranks follow the numbers of the nodes, not the network: {error}")
            return children
        ranked = [children[number - 1] for number in order[1:]]
        log(f"ranks follow the network: {', '.join(f'node {child.index}' for child in ranked)}")
        return ranked

    async def _watch(self) -> None:
        self._take("this node", await self._notices.wait(partial(say_at_risk, "this node")))

    def _take(self, node: str, notice: Notice) -> None:
        """Note what EC2 has said of a node; the first that it takes back counts."""
        self._notice = self._notice or (node, notice)
        self._changed.set()

    async def _has_succeeded(self, own: asyncio.Future[int]) -> bool:
        """Return whether the command has ended with 0 on every node, at the moment of a notice.

        How it ended may not be known yet, and nothing has asked it to end.
        """
        await asyncio.wait([own], timeout=_MOMENT_SECONDS)
        await self._settle()
        children = self._children.values()
        everywhere = self._main_only or all(child.code == 0 for child in children)
        return everywhere and own.done() and own.result() == 0

    async def _end_in_time(self, process: Process, node: str, notice: Notice) -> int:
        """End the command on all nodes, and this node last, before EC2 takes one back."""
        log(
            f"EC2 takes {node} back ({notice.kind}), at {notice.deadline} or later; the command "
            "ends on every node now, and can write a checkpoint until then"
        )
        write_deadline(self._settings.environment, notice.deadline)
        self._again = True
        children = [*self._children.values()]
        for child in children:
            child.channel.send("deadline", deadline=notice.deadline)
            if not self._main_only:
                # What mpirun has started, it ends itself.
                child.channel.send("stop", again=True)
        await process.stop(seconds_left(notice.deadline))
        for child in children:
            child.channel.send("stop", again=True)
        while not all(child.gone or child.lost for child in children):
            if not (left := seconds_left(notice.deadline)):
                break
            await self._next_change(left)
        return PEER_LOST

    def _terminate(self, process: Process) -> None:
        """Hand a signal on; what then ends does so because it was asked to."""
        drained = self._rendezvous.is_drained
        if notice := self._notices.of_signal(drained=drained):
            self._take("this node", notice)
            return
        log("asked to end; the command has some seconds to write a checkpoint")
        self._terminated = True
        for child in self._children.values():
            child.channel.send("stop", again=drained)
        self._stopping = asyncio.ensure_future(process.stop())

    async def _outcome(self, own: asyncio.Future[int]) -> int | None:
        """Return the job's exit code, or None as long as it goes on."""
        if self._terminated:
            if not own.done():
                return None
            # Where nodes are drained, the code of a job that was ended as a whole does not count.
            return PEER_LOST if self._rendezvous.is_drained else own.result()
        if self._notice:
            return None
        children = self._children.values()
        own_code = own.result() if own.done() else None
        everywhere = self._main_only or all(child.code is not None for child in children)
        ended = own_code is not None and everywhere
        counts = ended or not self._settings.keep_going
        failed = [child for child in children if child.code and counts]
        if failed or (own_code and counts) or any(child.leaving for child in children):
            # When a node is lost, the others fail by that, and often before the loss is noticed.
            # When the whole job is asked to end, a child may be asked first.
            await self._settle()
            if self._terminated or self._notice:
                return None
        for child in children:
            if child.lost or child.leaving:
                log_tail(f"{child} is lost", child.tail)
                return PEER_LOST
        if counts and (own_code or failed):
            code = self._failure(own_code, failed)
            return PEER_LOST if await self._is_a_device_gone(own_code) else code
        return 0 if ended else None

    def _failure(self, own_code: int | None, failed: list[_Child]) -> int:
        """Name the nodes on which the command failed; return the job's exit code.

        Where the first failure ends the job, the others may have failed by that.
        """
        if own_code:
            log(f"the command ended with exit code {own_code} on the main node")
        if not self._settings.keep_going:
            del failed[0 if own_code else 1 :]
        for child in failed:
            log_tail(f"the command ended with exit code {child.code} on {child}", child.tail)
        return own_code or failed[0].code or 0

    async def _is_a_device_gone(self, own_code: int | None) -> bool:
        """Have each node where the command failed examine its devices again, and name those nodes.

        What mpirun started may have failed on any node.
        """
        asked = [child for child in self._children.values() if child.code or self._main_only]
        for child in asked:
            child.channel.send("examine")
        problem = ""
        if own_code:
            this_node = await asyncio.to_thread(examine, self._settings.environment)
            problem, self.unfit = this_node.problem, this_node.unfit
        clock = asyncio.get_running_loop()
        deadline = clock.time() + _EXAMINE_SECONDS
        while clock.time() < deadline and not all(each.examined or each.gone for each in asked):
            await self._next_change(deadline - clock.time())
            if self._terminated:
                return False
        found = {"this node": problem} if problem else {}
        for child in asked:
            if not child.examined:
                found[str(child)] = "it does not say which devices it has"
            elif child.problem:
                found[str(child)] = child.problem
        for node, problem in found.items():
            log(f"{node} lost a device while the command ran: {problem}")
        return bool(found)

    async def _settle(self) -> None:
        """Ask all children for a sign of life; those that give none are lost."""
        asked = [child for child in self._children.values() if child.code is None]
        for child in asked:
            child.answered = False
            child.channel.send("ping")
        clock = asyncio.get_running_loop()
        deadline = clock.time() + _SETTLE_SECONDS
        while clock.time() < deadline:
            if all(child.answered or child.lost or child.code is not None for child in asked):
                return
            await self._next_change(deadline - clock.time())
        for child in asked:
            child.lost = child.lost or not (child.answered or child.code is not None)

    async def _run_on(self, address: str, command: str) -> int:
        """Run a command of mpirun's on a node."""
        if address == self._here:
            process = await Process.start(["/bin/sh", "-c", command], self._settings.environment)
            return await process.wait()
        for child in self._children.values():
            if child.address == address and not child.lost:
                number = next(self._numbers)
                child.runs[number] = asyncio.get_running_loop().create_future()
                child.channel.send("run", number=number, command=command)
                return await child.runs[number]
        log(f"mpirun asks for {address}, which is not a node of this job")
        return _SSH_FAILED
