"""One attempt of a job: its instances, its nodes in order, its end.

Batch user guide, "Multi-node parallel jobs": the main node starts first, the others when it is
running, in any order; the job ends when the main node ends, and the others are stopped then; a
child that ends, or whose host ends, changes nothing for the others. "Job timeouts": the time counts
from the attempt's startedAt; SIGTERM, and SIGKILL 30 seconds later. Documented: "Host EC2 (instance
i-...) terminated.", "Task failed to start" are in the guide's retry examples, the words of a
time-out in an issue of its users (dmlc/gluon-nlp 825). From memory: "Essential container in task
exited". Inferred: the reasons of nodes that are stopped with the job; TerminateJob waits as long as
a time-out.
"""

import random
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from embedded_aws.agenda import Agenda
from embedded_aws.batch import node_instances, tables
from embedded_aws.batch.attempt_nodes import Node
from embedded_aws.batch.job import Job
from embedded_aws.batch.job_containers import overrides_problem
from embedded_aws.batch.job_files import job_files
from embedded_aws.batch.job_logs import JobLog
from embedded_aws.batch.job_rows import enter, now
from embedded_aws.batch.node_instances import CannotPlace, Need
from embedded_aws.batch.outcomes import BROKEN, Outcome, Watcher
from embedded_aws.batch.retry_rules import Failure
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.clock import seconds_here
from embedded_aws.ec2.instance_files import instance_files, powers_off
from embedded_aws.ec2.instance_store import mounted_store
from embedded_aws.ec2.machines import switched_itself_off
from embedded_aws.hosts.hosts import Hosts, NoHost
from embedded_aws.hosts.process import Command, Listener
from embedded_aws.hosts.start_problems import runc_problem
from embedded_aws.iam.roles import can_assume
from embedded_aws.shared_storage import NotMounted, mounted_storage

_EXITED = "Essential container in task exited"
_NOT_STARTED = "Task failed to start"
_TIMED_OUT = "Job attempt duration exceeded timeout"
_MAIN_ENDED = "The main node of the job ended"
_GRACE_SECONDS = 30


class Attempt:
    """An attempt of a job.

    Attributes:
        job: the job.
        need: its instances.
        instances: moto's, one for each node; None for one that was not launched yet.
        stop_reason: why it is being ended; None when it is not.

    Args:
        job: the job.
        need: its instances.
        earlier: such instances that are there already, one for each node; None for one that is not.
        number: of the attempt, from 1.
        queue: name of the job queue.
        hosts: on which the processes run.
        watcher: hears of it.
    """

    def __init__(
        self,
        job: Job,
        need: Need,
        *,
        earlier: Sequence[Any],
        number: int,
        queue: str,
        hosts: Hosts,
        watcher: Watcher,
    ) -> None:
        self.job, self.need = job, need
        self.instances = list(earlier)
        self._number, self._queue = number, queue
        self._hosts, self._watcher = hosts, watcher
        self._agenda = Agenda()
        self._nodes: list[Node] = []
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

    def lose_hosts(self, seconds: float) -> None:
        """Let it go on for a time, and then end it as if its instances had ended."""
        self._agenda.add(partial(self._agenda.add_later, seconds, self._lose_hosts))

    def _run(self) -> None:
        try:
            node_instances.launch(self.job.call, self.need, self.instances, for_job=True)
        except CannotPlace as reason:
            self._watcher.blocked(self, str(reason))
            return
        self._watcher.launched(self)
        outcome = BROKEN
        try:
            self._run_on(self.instances)
            outcome = self._outcome()
        finally:
            self._watcher.ended(self, outcome)

    def _run_on(self, instances: Sequence[Any]) -> None:
        """Run the nodes and clean up."""
        with ExitStack() as left:
            folder = TemporaryDirectory(
                dir=self._hosts.folder, prefix="job-", ignore_cleanup_errors=True
            )
            path = Path(left.enter_context(folder))
            for instance in instances:
                # Ends its processes alone.
                left.callback(self._hosts.end, instance)
            self._begin(instances)
            self._run_nodes(path)

    def _begin(self, instances: Sequence[Any]) -> None:
        with tables.guard:
            enter(self._jobs, self.job.row, "STARTING")
            for index, instance in enumerate(instances):
                self._hosts.place(instance)
                node = Node(
                    job=self.job,
                    need=self.need,
                    index=index,
                    instance=instance,
                    address=instance.private_ip,
                )
                self._nodes.append(node)
                node.row["container"] = node.describe()

    def _run_nodes(self, folder: Path) -> None:
        start = partial(self._start_node, folder=folder)
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

    def _start_children(self, start: Callable[[Node], None]) -> None:
        children = [node for node in self._nodes if not node.is_main]
        for node in random.sample(children, len(children)):
            if not node.over:
                start(node)

    def _start_node(self, node: Node, *, folder: Path) -> None:
        own = folder / str(node.index)
        own.mkdir()
        with tables.guard:
            if node.row is not self.job.row:
                enter(self._jobs, node.row, "STARTING")
        if problem := overrides_problem(self.job.call.params):
            self._end_node(node, None, None, problem)
            return
        try:
            disk = self._hosts.disk(node.instance)
            files = job_files(
                self.job.call,
                node.container,
                self._hosts.images,
                own,
                instance_files(node.instance, disk),
                {
                    **mounted_store(node.instance, disk),
                    **mounted_storage(node.instance, self._hosts),
                },
            )
            environment = {
                **node.environment(
                    files.variables,
                    self._hosts.variables(node.address),
                    main=self._nodes[self.job.main].address,
                    number=self._number,
                    queue=self._queue,
                ),
                **self._credentials(node),
            }
            log = JobLog(self.job.call, node.container, self.job.definition, node.task)
        except (TaskRefused, NotMounted) as refused:
            self._end_node(node, None, str(refused), _NOT_STARTED)
            return
        node.log = log
        with tables.guard:
            if log.stream:
                node.row["container"]["logStreamName"] = log.stream
        log.write([f"embedded AWS: {files.said}"])
        node.program = files.words[0]
        command = Command(
            words=files.words,
            environment=environment,
            folder=own,
            only=True,
            container=files.container,
        )
        listener = Listener(
            started=lambda: self._agenda.add(partial(self._note_start, node)),
            printed=log.write,
            ended=lambda code, refused: self._agenda.add(
                partial(self._note_end, node, code, refused)
            ),
        )
        try:
            node.process = self._hosts.of(node.instance).run(command, listener)
        except NoHost:
            self._end_node(node, None, None, _host_terminated(node.instance.id))

    def _credentials(self, node: Node) -> dict[str, str]:
        """Return the variables by which a node gets the credentials of the job's role.

        ECS developer guide, "Task IAM role": the session is called by the task's id; the role must
        let ecs-tasks.amazonaws.com in. From memory: ECS's words when it does not.

        Raises:
            TaskRefused: there is no such role, or it does not let ECS's tasks in.
        """
        role = node.container.get("jobRoleArn")
        if not role:
            return {}
        if not can_assume(self.job.call, "ecs-tasks.amazonaws.com", role):
            raise TaskRefused(
                f"ECS was unable to assume the role '{role}' that was provided for this task. "
                "Please verify that the role being passed has the proper trust relationship and "
                "permissions and that your IAM user has permissions to pass this role."
            )
        return self._hosts.credentials.grant(self.job.call, node.task, role)

    def _note_start(self, node: Node) -> None:
        node.started_at = now()
        with tables.guard:
            for row in (node.row, self.job.row) if node.is_main else (node.row,):
                if row["status"] != "RUNNING":
                    enter(self._jobs, row, "RUNNING")
                row["startedAt"] = node.started_at
        if node.is_main:
            if seconds := self.job.row.get("timeout", {}).get("attemptDurationSeconds"):
                limit = seconds_here(seconds)
                self._agenda.add_later(limit, partial(self.stop, _TIMED_OUT))
            self._after_main()

    def _note_end(self, node: Node, code: int | None, refused: OSError | None) -> None:
        if (node.status_reason or "").startswith("Host EC2"):
            self._end_node(node, None, None, node.status_reason or _EXITED)
        elif refused is not None:
            problem = _start_problem(node.program, refused)
            self._end_node(node, None, f"CannotStartContainerError: {problem}", _NOT_STARTED)
        else:
            # As a shell gives the code of what signal n ended.
            code = 128 - code if code is not None and code < 0 else code
            self._end_node(node, code, None, self.stop_reason or node.status_reason or _EXITED)
        instance = node.instance
        if instance.state == "running" and powers_off(instance, self._hosts.disk(instance)):
            switched_itself_off(instance)

    def _end_node(self, node: Node, code: int | None, reason: str | None, status: str) -> None:
        """Note the end of a node.

        Args:
            node: the node.
            code: its exit code, if it has one.
            reason: of the container.
            status: statusReason of the attempt.
        """
        node.over, node.exit_code, node.reason, node.status_reason = True, code, reason, status
        self._hosts.credentials.revoke(node.task)
        with tables.guard:
            node.row["container"] = node.describe()
            attempt = node.describe_attempt()
            node.row["attempts"].append(attempt)
            if self.job.is_multinode:
                enter(self._jobs, node.row, "SUCCEEDED" if code == 0 else "FAILED", status)
                if node.is_main:
                    self.job.row["attempts"].append(attempt)

    def _end_all(self) -> None:
        for node in self._nodes:
            if node.process is None and not node.over:
                self._end_node(node, None, None, self.stop_reason or "")
        self._signal(signal.SIGTERM)
        self._kill_later()

    def _kill_later(self) -> None:
        seconds = seconds_here(_GRACE_SECONDS)
        self._agenda.add_later(seconds, partial(self._signal, signal.SIGKILL))

    def _signal(self, number: signal.Signals) -> None:
        for node in self._nodes:
            if node.process and not node.over:
                node.process.send(number)

    def _lose_hosts(self) -> None:
        for node in self._nodes:
            self._lose_host(node.instance.id)

    def _lose_host(self, instance_id: str) -> None:
        for node in self._nodes:
            if node.instance.id == instance_id and not node.over:
                node.status_reason = _host_terminated(instance_id)
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


def _host_terminated(instance_id: str) -> str:
    return f"Host EC2 (instance {instance_id}) terminated."


def _start_problem(program: str, error: OSError) -> str:
    """Return why a program cannot be run, in the words of Docker."""
    if error.errno is None:
        return str(error)
    return (
        "Error response from daemon: failed to create task for container: failed to create shim "
        f"task: {runc_problem(program, error)}"
    )
