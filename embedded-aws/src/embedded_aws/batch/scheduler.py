"""Which jobs start, when, and what follows after each attempt.

Batch user guide: jobs of a queue start in the order in which they became RUNNABLE, unless the queue
has a scheduling policy (not looked at here); queues of higher priority come first; a job that
cannot be placed blocks those behind it; jobStateTimeLimitActions cancel the job at the head that
waited too long for one reason. Documented: a job whose dependency fails fails, too; from memory:
its reason. Documented: a multi-node job does not run on Spot; inferred: one that waits when its
queue gets such an environment waits on, and the reason. Only the first enabled compute environment
of a queue is used. Inferred: how often launches are tried again.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.batch import tables
from embedded_aws.batch.attempts import Attempt
from embedded_aws.batch.job import Job
from embedded_aws.batch.job_rows import enter
from embedded_aws.batch.node_instances import UNDETERMINED, CannotPlace, Need, need_of, terminate
from embedded_aws.batch.outcomes import Outcome, Watched
from embedded_aws.batch.retry_rules import is_tried_again
from embedded_aws.clock import seconds_here
from embedded_aws.hosts.hosts import Hosts

HEALTHY = {"status": "VALID", "statusReason": "ComputeEnvironment Healthy"}
# Inferred: the reason.
_UPDATING = {"status": "UPDATING", "statusReason": "ComputeEnvironment is being updated"}
# Of AWS: between a try to launch and the next; each pause is twice the one before.
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 60, 960
# Of all jobs at a time; each has some processes and threads.
_MOST_NODES = 256


@dataclass(slots=True, eq=False)
class _Waiting:
    """A job of which no attempt runs.

    Attributes:
        job: the job.
        need: the instances that were last launched for it, if any were.
        instances: moto's, one for each node; None for one that is lacking.
        reason: why it cannot be placed.
        since: when that was first seen.
        again_at: when to try again.
        pause: how many seconds of AWS to wait for that.
    """

    job: Job
    need: Need | None = None
    instances: Sequence[Any] = ()
    reason: str | None = None
    since: float = 0
    again_at: float = 0
    pause: float = _SHORTEST_PAUSE_SECONDS

    def let_go(self) -> None:
        """End the instances that it has."""
        running = [each for each in self.instances if each]
        if self.need and running:
            # Whoever hears of their end takes the guard.
            ending = (self.job.call, self.need, running)
            threading.Thread(target=terminate, args=ending, daemon=True).start()
            self.instances = ()

    def block(self, reason: str) -> None:
        """Note why it cannot be placed."""
        if reason != self.reason:
            self.reason, self.since = reason, monotonic()
        self.job.row["statusReason"] = reason


class Scheduler:
    """The jobs of one embedded AWS that are not over.

    Args:
        hosts: on which they run.
    """

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._changed = threading.Condition(tables.guard)
        self._waiting: list[_Waiting] = []
        self._attempts: dict[str, Attempt] = {}
        # Those whose compute environment has other settings by now.
        self._on_former_nodes: set[Attempt] = set()
        # The first job of a queue while its instances are launched, by the queue's ARN.
        self._placing: dict[str, _Waiting] = {}
        self._thread: threading.Thread | None = None

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take new jobs."""
        with self._changed:
            self._waiting += map(_Waiting, jobs)
            if self._thread is None:
                self._thread = threading.Thread(target=self._schedule, daemon=True)
                self._thread.start()
            self._changed.notify()

    def stop(self, row: Row, reason: str) -> None:
        """End a job, wherever it is.

        Args:
            row: of the job.
            reason: its statusReason.
        """
        with self._changed:
            if attempt := self._attempts.get(row["jobId"]):
                attempt.stop(reason)
            for waiting in [each for each in self._waiting if each.job.row is row]:
                self._fail(waiting, reason)
            self._changed.notify()

    def exchange_nodes(self, environment: Row) -> None:
        """Run jobs on nodes with an environment's new settings.

        Those that run go on for as long as its update policy says. Batch user guide, "Perform
        infrastructure updates": meanwhile it is UPDATING, and new jobs get new instances. Inferred:
        it is VALID again when the last of the former instances has ended, which each does with its
        job; those that a job kept for its next attempt end at once.
        """
        policy = environment["updatePolicy"]
        minutes = 0 if policy["terminateJobsOnUpdate"] else policy["jobExecutionTimeoutMinutes"]
        with self._changed:
            for attempt in self._attempts.values():
                if attempt.need.environment is environment:
                    environment |= _UPDATING
                    self._on_former_nodes.add(attempt)
                    attempt.lose_hosts(seconds_here(minutes * 60))
            for waiting in self._waiting:
                if waiting.need and waiting.need.environment is environment:
                    waiting.let_go()

    def wake(self) -> None:
        """Try launches again that failed."""
        with self._changed:
            for waiting in (*self._waiting, *self._placing.values()):
                waiting.again_at = 0
            self._changed.notify()

    def host_ended(self, instance_id: str) -> None:
        """Tell the attempts that an instance has ended."""
        with tables.guard:
            for attempt in self._attempts.values():
                attempt.host_ended(instance_id)

    def launched(self, attempt: Watched) -> None:
        """Let the next job of the queue be placed."""
        with self._changed:
            del self._placing[attempt.job.row["jobQueue"]]
            self._changed.notify()

    def blocked(self, attempt: Watched, reason: str) -> None:
        """Put the job back, before all others."""
        with self._changed:
            row = attempt.job.row
            waiting = self._placing.pop(row["jobQueue"])
            self._waiting.insert(0, waiting)
            waiting.need, waiting.instances = attempt.need, attempt.instances
            if attempt in self._on_former_nodes:
                waiting.let_go()
            self._forget(row)
            if attempt.stop_reason is not None:
                self._fail(waiting, attempt.stop_reason)
            else:
                waiting.block(reason)
            self._changed.notify()

    def ended(self, attempt: Watched, outcome: Outcome) -> None:
        """End the job, or put it back for its next attempt."""
        job = attempt.job
        strategy = job.row.get("retryStrategy", {})
        again = (
            not (outcome.succeeded or outcome.final)
            and len(job.row["attempts"]) < strategy.get("attempts", 1)
            and is_tried_again(strategy.get("evaluateOnExit", []), outcome.failure)
        )
        keeps = again and attempt not in self._on_former_nodes
        if not keeps:
            terminate(job.call, attempt.need, attempt.instances)
        with self._changed:
            self._forget(job.row)
            if again:
                _enter(job, "RUNNABLE")
                kept = attempt.instances if keeps else ()
                self._waiting.append(_Waiting(job, attempt.need, kept))
            else:
                status = "SUCCEEDED" if outcome.succeeded else "FAILED"
                enter(tables.jobs(job.call), job.row, status, outcome.failure.status_reason)
            self._changed.notify()

    def _forget(self, row: Row) -> None:
        """Forget the attempt of a job, which may have been the last on an environment's nodes."""
        attempt = self._attempts.pop(row["jobId"])
        self._on_former_nodes.discard(attempt)
        environment = attempt.need.environment
        if not any(each.need.environment is environment for each in self._on_former_nodes):
            environment |= HEALTHY

    def _schedule(self) -> None:
        with self._changed:
            while True:
                for waiting in list(self._waiting):
                    self._consider(waiting)
                looks = [look for queue in self._queues() for look in self._start_jobs(queue)]
                self._changed.wait(max(0, min(looks) - monotonic()) if looks else None)

    def _consider(self, waiting: _Waiting) -> None:
        """Bring a job that waits for others into its next state, if it is time."""
        row = waiting.job.row
        if row["status"] == "RUNNABLE":
            return
        states = {other["status"] for other in waiting.job.after}
        if "FAILED" in states:
            self._fail(waiting, "Dependent Job failed")
        elif states <= {"SUCCEEDED"}:
            _enter(waiting.job, "RUNNABLE")
        elif row["status"] == "SUBMITTED":
            _enter(waiting.job, "PENDING")

    def _queues(self) -> list[list[_Waiting]]:
        """Return the jobs that could start, by queue, queues of higher priority first."""
        found: dict[str, list[_Waiting]] = {}
        for waiting in self._waiting:
            if waiting.job.row["status"] == "RUNNABLE":
                found.setdefault(waiting.job.row["jobQueue"], []).append(waiting)
        return sorted(found.values(), key=lambda jobs: -_queue(jobs[0].job)["priority"])

    def _start_jobs(self, jobs: list[_Waiting]) -> list[float]:
        """Start the first job of a queue, if it can; return when to look at it again."""
        first = jobs[0]
        row = first.job.row
        if row["jobQueue"] in self._placing:
            return []
        if first.again_at <= monotonic():
            try:
                need = self._need(first.job)
            except CannotPlace as reason:
                first.block(str(reason))
            else:
                if need:
                    self._start(first, need)
                return []
        limits = self._time_limits(first)
        if limits and min(limits) <= monotonic():
            row["isCancelled"] = True
            cause = (first.reason or "").partition(" ")[0]
            self._fail(first, f"Canceled by JobStateTimeLimit action due to reason: {cause}")
            return self._start_jobs(jobs[1:]) if jobs[1:] else []
        return [*limits, *([first.again_at] if first.again_at > monotonic() else [])]

    def _need(self, job: Job) -> Need | None:
        """Return what a job needs, or None when others have that at the moment.

        Raises:
            CannotPlace: it cannot be placed as things are.
        """
        environments = tables.compute_environments(job.call)
        for entry in _queue(job)["computeEnvironmentOrder"]:
            environment = environments.get(entry["computeEnvironment"])
            if environment and environment["state"] == "ENABLED":
                break
        else:
            return None
        if job.is_multinode and environment["computeResources"]["type"] == "SPOT":
            raise CannotPlace(UNDETERMINED)
        containers = [container for container in job.containers if container is not None]
        if len(containers) < len(job.containers):
            raise CannotPlace("the embedded AWS runs jobs with containerProperties only")
        need = need_of(environment, containers)
        if need.count > _MOST_NODES:
            raise CannotPlace(f"the embedded AWS runs at most {_MOST_NODES} nodes at a time")
        needs = [attempt.need for attempt in self._attempts.values()]
        if sum(other.count for other in needs) + need.count > _MOST_NODES:
            return None
        vcpus = sum(other.vcpus for other in needs if other.environment is environment)
        return need if vcpus + need.vcpus <= environment["computeResources"]["maxvCpus"] else None

    def _start(self, waiting: _Waiting, need: Need) -> None:
        job = waiting.job
        self._waiting.remove(waiting)
        if waiting.need and waiting.need.environment is not need.environment:
            waiting.let_go()
        waiting.again_at = monotonic() + seconds_here(waiting.pause)
        waiting.pause = min(2 * waiting.pause, _LONGEST_PAUSE_SECONDS)
        attempt = Attempt(
            job,
            need,
            earlier=waiting.instances,
            number=len(job.row["attempts"]) + 1,
            queue=_queue(job)["jobQueueName"],
            hosts=self._hosts,
            watcher=self,
        )
        self._attempts[job.row["jobId"]] = attempt
        self._placing[job.row["jobQueue"]] = waiting
        attempt.start()

    def _fail(self, waiting: _Waiting, reason: str) -> None:
        """End a job that waits."""
        self._waiting.remove(waiting)
        _enter(waiting.job, "FAILED", reason)
        waiting.let_go()

    def _time_limits(self, waiting: _Waiting) -> list[float]:
        """Return when a job's queue cancels it, if nothing changes."""
        return [
            waiting.since + seconds_here(action["maxTimeSeconds"])
            for action in _queue(waiting.job)["jobStateTimeLimitActions"]
            if (waiting.reason or "").startswith(action["reason"])
        ]


def _queue(job: Job) -> Row:
    return tables.job_queues(job.call)[job.row["jobQueue"]]


def _enter(job: Job, status: str, reason: str | None = None) -> None:
    """Bring a job and its nodes into a state."""
    rows = tables.jobs(job.call)
    enter(rows, job.row, status, reason)
    for node in job.nodes:
        if node is not job.row:
            enter(rows, node, status, reason)
