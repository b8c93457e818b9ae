"""Commands that are not over: which invocations start, when, and when they are given up.

Systems Manager user guide, "Send commands at scale", "Understanding command statuses" and "Command
timeouts": at most MaxConcurrency invocations are in progress; when more than MaxErrors have failed,
no other starts, and those are Terminated; what did not reach its instance before the delivery
time-out, and what is not over when the command expires, is DeliveryTimedOut. An instance that was
terminated is Undeliverable; inferred: one that stopped may come back. Inferred: when an agent whose
instance is terminated is given up: with the command's expiry.
"""

import threading
from functools import partial

from embedded_aws.agenda import Agenda
from embedded_aws.clock import seconds_here
from embedded_aws.hosts.hosts import Hosts
from embedded_aws.ssm.agent import Agent
from embedded_aws.ssm.command import ERRORS, Command, Invocation, guard

# Of all commands at a time; each has some processes and threads.
_MOST_IN_PROGRESS = 256


class CommandRuns:
    """The commands of one embedded AWS that are not over.

    Args:
        hosts: on which they run.
    """

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._agenda = Agenda()
        self._open: list[Command] = []
        self._agents: dict[Invocation, Agent] = {}
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def send(self, command: Command) -> None:
        """Take a new command."""
        with self._starting:
            if self._thread is None:
                work = partial(self._agenda.work_until, lambda: False)
                self._thread = threading.Thread(target=work, daemon=True)
                self._thread.start()
        self._agenda.add(partial(self._begin, command))

    def cancel(self, command: Command, invocations: list[Invocation]) -> None:
        """End invocations of a command that are not over."""
        self._agenda.add(partial(self._give_up, command, invocations, "Cancelled"))

    def instance_changed(self) -> None:
        """Look again at what waits: an instance has started, or has ended."""
        self._agenda.add(self._advance)

    def _begin(self, command: Command) -> None:
        self._open.append(command)
        delivered = seconds_here(command.delivery_seconds)
        self._agenda.add_later(delivered, partial(self._expire, command, "Pending"))
        total = seconds_here(command.total_seconds)
        self._agenda.add_later(total, partial(self._expire, command, "InProgress"))
        self._advance()

    def _expire(self, command: Command, details: str) -> None:
        late = [each for each in command.invocations if each.details == details]
        self._give_up(command, late, "DeliveryTimedOut")

    def _give_up(self, command: Command, invocations: list[Invocation], details: str) -> None:
        for invocation in invocations:
            if invocation.over:
                continue
            if agent := self._agents.pop(invocation, None):
                agent.stop(details)
            self._enter(invocation, details)
        self._advance()

    def _advance(self) -> None:
        """Start what can start."""
        for command in list(self._open):
            for invocation in command.invocations:
                if invocation.details == "Pending":
                    self._consider(command, invocation)
            if all(invocation.over for invocation in command.invocations):
                self._open.remove(command)

    def _consider(self, command: Command, invocation: Invocation) -> None:
        """Start an invocation that is Pending, if it is time."""
        state = invocation.instance.state
        if command.count(*ERRORS) > command.max_errors:
            self._enter(invocation, "Terminated")
        elif state in ("shutting-down", "terminated"):
            self._enter(invocation, "Undeliverable")
        elif (
            state == "running"
            and command.count("InProgress") < command.at_a_time
            and len(self._agents) < _MOST_IN_PROGRESS
        ):
            self._enter(invocation, "InProgress")
            agent = self._agents[invocation] = Agent(
                command,
                invocation,
                hosts=self._hosts,
                agenda=self._agenda,
                over=partial(self._note_end, invocation),
            )
            agent.start()

    def _note_end(self, invocation: Invocation) -> None:
        """Note that all steps of an invocation have ended."""
        del self._agents[invocation]
        states = {run.details for run in invocation.steps}
        worst = next(each for each in (*ERRORS, "Success") if each in states)
        self._enter(invocation, worst)
        # Not from within a loop over the invocations.
        self._agenda.add(self._advance)

    def _enter(self, invocation: Invocation, details: str) -> None:
        with guard:
            invocation.details = details
            for run in invocation.steps:
                if run.began is None and details != "InProgress":
                    run.details = details
