"""One attempt of a job: its instances, its nodes in order, its end.

[S] Batch user guide, "Multi-node parallel jobs": the main node starts first, the others when it is
running, in any order; the job ends when the main node ends, and the others are stopped then; a
child that ends, or whose host ends, changes nothing for the others. [S] "Job timeouts": the time
counts from the attempt's startedAt; SIGTERM, and SIGKILL 30 seconds later. [S] "Host EC2 (instance
i-...) terminated.", "Task failed to start" are in the guide's retry examples, the words of a
time-out in an issue of its users (dmlc/gluon-nlp 825). [M] "Essential container in task exited".
[I] The reasons of nodes that are stopped with the job; TerminateJob waits as long as a time-out.
"""

import random
import shutil
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.batch import job_environment, node_instances, tables
from embedded_aws.batch.agenda import Agenda
from embedded_aws.batch.job_containers import Container
from embedded_aws.batch.job_images import pull_problem
from embedded_aws.batch.job_logs import JobLog
from embedded_aws.batch.job_machine import JobMachine
from embedded_aws.batch.job_rows import enter, now
from embedded_aws.batch.node_instances import CannotPlace, Host, Need
from embedded_aws.batch.node_network import NodeNetwork
from embedded_aws.batch.node_processes import Listener, NodeProcess, NodeTask
from embedded_aws.batch.retry_rules import Failure
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.service_settings import current

_EXITED = "Essential container in task exited"
_NOT_STARTED = "Task failed to start"
_TIMED_OUT = "Job attempt duration exceeded timeout"
_MAIN_ENDED = "The main node of the job ended"
_GRACE_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that may be attempted: a container job, a child of an array, or a multi-node job.

    Attributes:
        call: that submitted it.
        row: as DescribeJobs returns it.
        definition: name of its definition.
        nodes: rows of its nodes; the job's own for one that has no nodes.
        containers: of its nodes; None for what is not a container of ECS.
        main: index of the main node.
        after: rows of jobs that have to succeed before it starts.
        array_size: of its array, for a child.
    """

    call: Call
    row: Row
    definition: str
    nodes: Sequence[Row]
    containers: Sequence[Container | None]
    main: int = 0
    after: Sequence[Row] = ()
    array_size: int | None = None

    @property
    def is_multinode(self) -> bool:
        """Its nodes have rows of their own."""
        return self.nodes[0] is not self.row


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attempt ended.

    Attributes:
        succeeded: the main node ended with 0.
        failure: what the retry rules look at.
        final: whatever the retry rules say, there is no other attempt.
    """

    succeeded: bool
    failure: Failure
    final: bool


# Of an attempt that a bug of the embedded AWS ended.
_BROKEN = Outcome(
    succeeded=False,
    final=True,
    failure=Failure(
        exit_code=None,
        reason=None,
        status_reason="the embedded AWS failed; its log says why",
    ),
)


class Watcher:
    """Who started an attempt, and is told of it from the attempt's thread."""

    def launched(self, attempt: "Attempt") -> None:
        """Its instances run."""

    def blocked(self, attempt: "Attempt", reason: str) -> None:
        """It ended before it began, because no instances can be launched."""

    def ended(self, attempt: "Attempt", outcome: Outcome) -> None:
        """It ended, and nothing of it is left."""


@dataclass(slots=True, kw_only=True)
class _Node:
    """A node in an attempt."""

    index: int
    row: Row
    container: Container
    host: Host
    address: str
    task: str = field(default_factory=lambda: mock_random.get_random_hex(32))
    process: NodeProcess | None = None
    log: JobLog | None = None
    started_at: int | None = None
    over: bool = False
    exit_code: int | None = None
    reason: str | None = None
    status_reason: str | None = None


class Attempt:
    """An attempt of a job.

    Attributes:
        job: the job.
        need: its instances.
        stop_reason: why it is being ended; None when it is not.

    Args:
        job: the job.
        need: its instances.
        number: of the attempt, from 1.
        queue: name of the job queue.
        machine: on which the processes run.
        watcher: is told of it.
    """

    def __init__(
        self,
        job: Job,
        need: Need,
        *,
        number: int,
        queue: str,
        machine: JobMachine,
        watcher: Watcher,
    ) -> None:
        self.job, self.need = job, need
        self._number, self._queue = number, queue
        self._machine, self._watcher = machine, watcher
        self._agenda = Agenda()
        self._nodes: list[_Node] = []
        self.stop_reason: str | None = None
        self._jobs = tables.jobs(job.call)

    def start(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self, reason: str) -> None:
        """End it for good: SIGTERM, and later SIGKILL.

        Args:
            reason: the statusReason that it gets.
        """
        if self.stop_reason is None:
            self.stop_reason = reason
            self._agenda.add(self._end_all)

    def host_ended(self, instance_id: str) -> None:
        """Note that an instance has ended, which may have one of the nodes."""
        self._agenda.add(partial(self._lose_host, instance_id))

    def _run(self) -> None:
        try:
            hosts = node_instances.launch(self.job.call, self.need)
        except CannotPlace as reason:
            self._watcher.blocked(self, str(reason))
            return
        self._watcher.launched(self)
        outcome = _BROKEN
        try:
            self._run_on(hosts)
            outcome = self._outcome()
        finally:
            self._watcher.ended(self, outcome)

    def _run_on(self, hosts: Sequence[Host]) -> None:
        """Run the nodes and clean up."""
        folder = Path(mkdtemp(dir=self._machine.folder, prefix="job-"))
        network = self._machine.network(hosts, folder)
        try:
            self._begin(hosts, network)
            self._run_nodes(folder, network)
        finally:
            network.close()
            shutil.rmtree(folder, ignore_errors=True)
            node_instances.terminate(self.job.call, hosts)

    def _begin(self, hosts: Sequence[Host], network: NodeNetwork) -> None:
        with tables.guard:
            enter(self._jobs, self.job.row, "STARTING")
            for index, row in enumerate(self.job.nodes):
                container = self.job.containers[index]
                assert container is not None
                node = _Node(
                    index=index,
                    row=row,
                    container=container,
                    host=hosts[index],
                    address=network.addresses[index],
                )
                self._nodes.append(node)
                row["container"] = self._describe(node)

    def _run_nodes(self, folder: Path, network: NodeNetwork) -> None:
        start = partial(self._start_node, folder=folder, network=network)
        main = self._nodes[self.job.main]
        self._after_main: Callable[[], None] = partial(self._start_children, start)
        start(main)
        self._agenda.work_until(lambda: main.over)
        for node in self._nodes:
            if node.process is None and not node.over:
                self._end_node(node, None, None, _MAIN_ENDED)
            elif not node.over:
                node.status_reason = node.status_reason or _MAIN_ENDED
        self._signal(signal.SIGTERM)
        self._kill_later()
        self._agenda.work_until(lambda: all(node.over for node in self._nodes))

    def _start_children(self, start: Callable[[_Node], None]) -> None:
        children = [node for node in self._nodes if node.index != self.job.main]
        for node in random.sample(children, len(children)):
            if not node.over:
                start(node)

    def _start_node(self, node: _Node, *, folder: Path, network: NodeNetwork) -> None:
        own = folder / str(node.index)
        own.mkdir()
        with tables.guard:
            if node.row is not self.job.row:
                enter(self._jobs, node.row, "STARTING")
        try:
            environment = self._environment(node, own, network)
            if problem := pull_problem(self.job.call, node.container["image"]):
                raise TaskRefused(problem)
            command = node.container["command"]
            if not command:
                raise TaskRefused(
                    "CannotStartContainerError: the embedded AWS does not run images, whose own "
                    "command it does not know: give the job a command"
                )
            log = JobLog(self.job.call, node.container, self.job.definition, node.task)
        except TaskRefused as refused:
            self._end_node(node, None, str(refused), _NOT_STARTED)
            return
        node.log = log
        with tables.guard:
            if log.stream:
                node.row["container"]["logStreamName"] = log.stream
        log.write([f"embedded AWS: on this machine's own files, not in {node.container['image']}"])
        node.process = NodeProcess(
            NodeTask(index=node.index, command=command, environment=environment, folder=own),
            network,
            port=self._machine.port,
            answer=self._machine.answer,
            lock=self._machine.lock,
            listener=Listener(
                started=lambda: self._agenda.add(partial(self._note_start, node)),
                printed=log.write,
                ended=lambda code, refused: self._agenda.add(
                    partial(self._note_end, node, code, refused)
                ),
            ),
        )

    def _environment(self, node: _Node, folder: Path, network: NodeNetwork) -> dict[str, str]:
        """Return the variables of a node; those of AWS Batch come last, as nothing changes them.

        Raises:
            TaskRefused: a secret or the role is not there.
        """
        call, container = self.job.call, node.container
        name = self.need.environment["computeEnvironmentName"]
        own = {entry["name"]: entry.get("value", "") for entry in container["environment"]}
        variables = {
            **job_environment.machine_variables(
                call, folder, None if network.apart else node.address
            ),
            **own,
            **job_environment.secret_variables(call, container),
            **job_environment.batch_variables(
                node.row,
                environment=name,
                queue=self._queue,
                attempt=self._number,
                size=self.job.array_size,
            ),
        }
        if self.job.is_multinode:
            variables |= job_environment.node_variables(
                node.index, self.job.main, len(self._nodes), self._nodes[self.job.main].address
            )
        if role := container.get("jobRoleArn"):
            endpoint = current().endpoint
            variables |= self._machine.credentials.grant(call, node.task, role, endpoint)
        return variables

    def _note_start(self, node: _Node) -> None:
        node.started_at = now()
        is_main = node.index == self.job.main
        with tables.guard:
            for row in (node.row, self.job.row) if is_main else (node.row,):
                if row["status"] != "RUNNING":
                    enter(self._jobs, row, "RUNNING")
                row["startedAt"] = node.started_at
        if is_main:
            if seconds := self.job.row.get("timeout", {}).get("attemptDurationSeconds"):
                limit = self._machine.seconds(seconds)
                self._agenda.add_later(limit, partial(self.stop, _TIMED_OUT))
            self._after_main()

    def _note_end(self, node: _Node, code: int, refused: str | None) -> None:
        if refused is not None:
            self._end_node(node, None, f"CannotStartContainerError: {refused}", _NOT_STARTED)
        elif node.reason or (node.status_reason or "").startswith("Host EC2"):
            self._end_node(node, None, node.reason, node.status_reason or _EXITED)
        else:
            self._end_node(node, code, None, self.stop_reason or node.status_reason or _EXITED)

    def _end_node(self, node: _Node, code: int | None, reason: str | None, status: str) -> None:
        """Note the end of a node.

        Args:
            node: the node.
            code: its exit code, if it has one.
            reason: of the container.
            status: statusReason of the attempt.
        """
        node.over, node.exit_code, node.reason, node.status_reason = True, code, reason, status
        self._machine.credentials.revoke(node.task)
        with tables.guard:
            node.row["container"] = self._describe(node)
            attempt = self._described_attempt(node)
            node.row["attempts"].append(attempt)
            if self.job.is_multinode:
                enter(self._jobs, node.row, "SUCCEEDED" if code == 0 else "FAILED", status)
                if node.index == self.job.main:
                    self.job.row["attempts"].append(attempt)

    def _describe(self, node: _Node) -> dict[str, Any]:
        """Return a node's container as DescribeJobs has it."""
        cluster = self.need.environment["ecsClusterArn"].rpartition("/")[2]
        described = {
            **node.container,
            "taskArn": self.job.call.arn("ecs", f"task/{cluster}/{node.task}"),
            "containerInstanceArn": self.job.call.arn(
                "ecs", f"container-instance/{cluster}/{node.host.instance_id}"
            ),
            "networkInterfaces": [{"privateIpv4Address": node.address}],
            "exitCode": node.exit_code,
            "reason": node.reason,
            "logStreamName": node.log.stream if node.log else None,
        }
        return {name: value for name, value in described.items() if value is not None}

    def _described_attempt(self, node: _Node) -> dict[str, Any]:
        members = ("containerInstanceArn", "taskArn", "exitCode", "reason", "logStreamName")
        container = {
            name: node.row["container"][name]
            for name in (*members, "networkInterfaces")
            if name in node.row["container"]
        }
        attempt = {
            "container": container,
            "startedAt": node.started_at,
            "stoppedAt": now(),
            "statusReason": node.status_reason,
        }
        return {name: value for name, value in attempt.items() if value is not None}

    def _end_all(self) -> None:
        for node in self._nodes:
            if node.process is None and not node.over:
                self._end_node(node, None, None, self.stop_reason or "")
        self._signal(signal.SIGTERM)
        self._kill_later()

    def _kill_later(self) -> None:
        seconds = self._machine.seconds(_GRACE_SECONDS)
        self._agenda.add_later(seconds, partial(self._signal, signal.SIGKILL))

    def _signal(self, number: signal.Signals) -> None:
        for node in self._nodes:
            if node.process and not node.over:
                node.process.send(number)

    def _lose_host(self, instance_id: str) -> None:
        for node in self._nodes:
            if node.host.instance_id == instance_id and not node.over:
                node.status_reason = f"Host EC2 (instance {instance_id}) terminated."
                if node.process:
                    node.process.send(signal.SIGKILL)
                else:
                    self._end_node(node, None, None, node.status_reason)

    def _outcome(self) -> Outcome:
        main = self._nodes[self.job.main]
        return Outcome(
            succeeded=main.exit_code == 0 and self.stop_reason is None,
            failure=Failure(
                exit_code=main.exit_code, reason=main.reason, status_reason=main.status_reason
            ),
            final=self.stop_reason is not None,
        )
