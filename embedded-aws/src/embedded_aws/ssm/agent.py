"""What the agent of an instance does with a command: it runs the steps, one after the other.

amazon-ssm-agent, executers, runscript and runpluginutil: a step's script is a file that `sh -c`
runs in a process group of its own, with two variables; it has ended when nobody has its output open
any more; a time-out or a cancellation kills the process group, with code 137, and waits for
nothing; code 137 is a time-out, 168 and 169 end the document; another code adds a line to the
standard error; a step that fails does not keep the next ones from running. Inferred: a step whose
instance ends is not heard of again. From memory: outputs are cut after 24,000 characters.
"""

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from embedded_aws.agenda import Agenda
from embedded_aws.clock import seconds_here
from embedded_aws.ec2.instance_files import powers_off
from embedded_aws.ec2.instance_processes import instance_variables
from embedded_aws.ec2.machines import switched_itself_off
from embedded_aws.hosts import process
from embedded_aws.hosts.container_mounts import Bound
from embedded_aws.hosts.hosts import Hosts, NoHost
from embedded_aws.hosts.machine_files import machine_container
from embedded_aws.hosts.process import HostProcess, Listener
from embedded_aws.shared_storage import NotMounted, mounted_storage
from embedded_aws.ssm.agent_log import AgentLog
from embedded_aws.ssm.command import Command, Invocation, StepRun, guard

_KEPT = 24_000
_CUT = "--output truncated--"
_KILLED = 128 + signal.SIGKILL
_EXIT_WITH_SUCCESS, _EXIT_WITH_FAILURE = 168, 169


@dataclass(slots=True, kw_only=True, eq=False)
class _Output:
    """One output of a step: what is kept of it, and its log."""

    log: AgentLog | None
    kept: str = ""

    def add(self, lines: Sequence[str]) -> None:
        """Keep lines and log them."""
        if len(self.kept) <= _KEPT:
            self.kept += "".join(lines)
        if self.log:
            now = int(time.time() * 1000)
            texts = [line.removesuffix("\n") for line in lines]
            self.log.write([{"timestamp": now, "message": text} for text in texts if text])

    def text(self) -> str:
        """Return the beginning of it."""
        if len(self.kept) <= _KEPT:
            return self.kept
        return self.kept[: _KEPT - len(_CUT)] + _CUT


@dataclass(slots=True, kw_only=True, eq=False)
class _Running:
    run: StepRun
    output: _Output
    errors: _Output
    process: HostProcess | None = None


class Agent:
    """An agent with one invocation; all calls come from the agenda's thread.

    Args:
        command: of the invocation.
        invocation: what it runs.
        hosts: the instance is one of them.
        agenda: of the thread.
        over: called when all steps have ended by themselves.
    """

    def __init__(
        self,
        command: Command,
        invocation: Invocation,
        *,
        hosts: Hosts,
        agenda: Agenda,
        over: Callable[[], None],
    ) -> None:
        self._command, self._invocation = command, invocation
        self._hosts, self._agenda, self._over = hosts, agenda, over
        self._position = 0
        self._running: _Running | None = None
        self._lost = False

    def start(self) -> None:
        """Run the next step."""
        instance = self._invocation.instance
        run = self._invocation.steps[self._position]
        with guard:
            run.details, run.began = "InProgress", datetime.now(UTC)
        variables = instance_variables(self._command.call, instance, self._hosts)
        logs = [self._log(run, variables, name) for name in ("stdout", "stderr")]
        running = self._running = _Running(
            run=run, output=_Output(log=logs[0]), errors=_Output(log=logs[1])
        )
        disk = self._hosts.disk(instance)
        script = disk / f"{self._command.id}-{self._position}.sh"
        try:
            mounted = mounted_storage(instance, self._hosts)
        except NotMounted as reason:
            # On AWS its boot would have failed.
            running.errors.add([f"embedded AWS: {reason}\n"])
            self._agenda.add(partial(self._note_end, running, 1, None))
            return
        folder = run.step.folder or str(disk)
        command = process.Command(
            words=["sh", "-c", str(script)],
            environment={
                **variables,
                "AWS_SSM_INSTANCE_ID": instance.id,
                "AWS_SSM_REGION_NAME": self._command.call.region,
            },
            folder=Path(folder),
            container=machine_container(
                self._hosts.images,
                disk / f"{self._command.id}-{self._position}",
                folder,
                [
                    Bound(source=str(source), target=path, mounted=True)
                    for path, source in mounted.items()
                ],
            ),
        )
        listener = Listener(
            started=lambda: None,
            printed=running.output.add,
            complained=running.errors.add,
            ended=lambda code, refused: self._agenda.add(
                partial(self._note_end, running, code, refused)
            ),
        )
        # The instance may end at any moment, and its files with it.
        try:
            script.write_text("\n".join(run.step.lines) + "\n")
            script.chmod(0o700)
            running.process = self._hosts.of(instance).run(command, listener)
        except (NoHost, OSError):
            self._lost = True
            return
        limit = seconds_here(run.step.seconds)
        self._agenda.add_later(limit, partial(self._time_out, running))

    def stop(self, details: str) -> None:
        """Kill what runs, and run no more.

        Args:
            details: the StatusDetails of all steps that have not ended.
        """
        if running := self._running:
            self._kill(running)
            self._end(running, details, _KILLED)
        with guard:
            for run in self._invocation.steps:
                if run.ended is None:
                    run.details, run.code = details, 1

    def _log(self, run: StepRun, variables: dict[str, str], name: str) -> AgentLog | None:
        """Return the log of an output of a step, if the command has logs and the instance a role.

        Args:
            run: the step.
            variables: of the step's process.
            name: of the output.
        """
        configuration = self._command.params.get("CloudWatchOutputConfig", {})
        token = variables.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if not (configuration.get("CloudWatchOutputEnabled") and token):
            return None
        instance_id = self._invocation.instance.id
        step = run.step.name.replace(":", "-").replace("*", "-")
        default = f"/aws/ssm/{self._command.document}"
        return AgentLog(
            partial(self._hosts.credentials.of, instance_id),
            endpoint=self._hosts.endpoint,
            region=self._command.call.region,
            group=configuration.get("CloudWatchLogGroupName", default),
            stream=f"{self._command.id}/{instance_id}/{step}/{name}",
        )

    def _note_end(self, running: _Running, code: int | None, refused: OSError | None) -> None:
        """Note that a step has ended by itself, and go on with the next one."""
        if running.run.ended:
            return
        if refused and refused.errno:
            code, problem = 1, f"{running.run.step.folder}: {refused.strerror}"
        elif code is None:
            self._lost = True
            return
        else:
            problem = f"exit status {code}" if code >= 0 else "signal: killed"
            code = max(code, -1)
        succeeded = code in (0, _EXIT_WITH_SUCCESS)
        details = "Success" if succeeded else "Failed"
        if code == _KILLED:
            details = "ExecutionTimedOut"
        elif not succeeded:
            running.errors.add([f"failed to run commands: {problem}"])
        self._end(running, details, code)
        self._go_on(code)

    def _time_out(self, running: _Running) -> None:
        if running.run.ended is None and not self._lost:
            self._kill(running)
            self._end(running, "ExecutionTimedOut", _KILLED)
            self._go_on(_KILLED)

    def _go_on(self, code: int) -> None:
        """Run the next step after one that ended with a code."""
        self._position += 1
        steps = self._invocation.steps
        if self._position < len(steps) and code not in (_EXIT_WITH_SUCCESS, _EXIT_WITH_FAILURE):
            self.start()
            return
        with guard:
            for run in steps[self._position :]:
                # From memory: the agent skips them.
                run.details, run.code = "Success", 0
        self._over()
        instance = self._invocation.instance
        if instance.state == "running" and powers_off(instance, self._hosts.disk(instance)):
            switched_itself_off(instance)

    def _end(self, running: _Running, details: str, code: int) -> None:
        run = running.run
        if run.ended is None:
            with guard:
                run.details, run.code, run.ended = details, code, datetime.now(UTC)
                run.output, run.errors = running.output.text(), running.errors.text()

    def _kill(self, running: _Running) -> None:
        if running.process and running.run.ended is None:
            running.process.send_group(signal.SIGKILL)
