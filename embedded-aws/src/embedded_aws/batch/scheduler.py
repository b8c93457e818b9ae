"""Which jobs start, when, and what follows after each attempt.

Batch user guide: a job that cannot be placed blocks those behind it in its queue. Documented: a job
whose dependency fails fails, too; from memory: its reason. Inferred: a job gets instances that have
no job before others are launched. Inferred: how often launches are tried again.
"""

import threading
from collections.abc import Sequence
from time import monotonic

from embedded_aws.actions import Row
from embedded_aws.batch import tables
from embedded_aws.batch.attempts import Attempt
from embedded_aws.batch.idle_by_environment import IdleByEnvironment
from embedded_aws.batch.job import Job
from embedded_aws.batch.job_rows import enter
from embedded_aws.batch.node_instances import CannotPlace, Need, terminate
from embedded_aws.batch.outcomes import Outcome, Watched
from embedded_aws.batch.placement import by_queue, need_now, queue_of, time_limits
from embedded_aws.batch.retry_rules import is_tried_again
from embedded_aws.batch.waiting import Waiting
from embedded_aws.clock import seconds_here
from embedded_aws.hosts.hosts import Hosts

HEALTHY = {"status": "VALID", "statusReason": "ComputeEnvironment Healthy"}
# Inferred: the reason.
_UPDATING = {"status": "UPDATING", "statusReason": "ComputeEnvironment is being updated"}


class Scheduler:
    """The jobs of one embedded AWS that are not over.

    Attributes:
        idle: the instances that have none.

    Args:
        hosts: on which they run.
    """

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self.idle = IdleByEnvironment(placing=self._is_placing, changed=self._note_idle)
        self._changed = threading.Condition(tables.guard)
        self._waiting: list[Waiting] = []
        self._attempts: dict[str, Attempt] = {}
        # Those whose compute environment has other settings by now.
        self._on_former_nodes: set[Attempt] = set()
        # The first job of a queue while its instances are launched, by the queue's ARN.
        self._placing: dict[str, Waiting] = {}
        self._thread: threading.Thread | None = None

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take new jobs."""
        with self._changed:
            self._waiting += map(Waiting, jobs)
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
        job; those that a job kept for its next attempt, and those that have none, end at once.
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
                    self._release(waiting, keep=False)
            self.idle.drop(environment)

    def wake(self) -> None:
        """Try launches again that failed."""
        with self._changed:
            for waiting in (*self._waiting, *self._placing.values()):
                waiting.again_at = 0
            self.idle.try_again()
            self._changed.notify()

    def host_ended(self, instance_id: str) -> None:
        """Tell the attempts that an instance has ended, and have it replaced for the minimum."""
        with tables.guard:
            for attempt in self._attempts.values():
                attempt.host_ended(instance_id)
                if any(each and each.id == instance_id for each in attempt.instances):
                    self._settle_idle(attempt)
            self.idle.ended(instance_id)

    def launched(self, attempt: Watched) -> None:
        """Let the next job of the queue be placed."""
        with self._changed:
            del self._placing[attempt.job.row["jobQueue"]]
            self._settle_idle(attempt)
            self._changed.notify()

    def blocked(self, attempt: Watched, reason: str) -> None:
        """Put the job back, before all others."""
        with self._changed:
            row = attempt.job.row
            waiting = self._placing.pop(row["jobQueue"])
            self._waiting.insert(0, waiting)
            waiting.need, waiting.instances = attempt.need, attempt.instances
            if attempt in self._on_former_nodes:
                self._release(waiting, keep=False)
            self._forget(row)
            self._settle_idle(attempt)
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
        former = attempt in self._on_former_nodes
        keeps = again and not former
        if former:
            terminate(job.call, attempt.need.environment, attempt.instances)
        elif not keeps:
            self.idle.give_back(job.call, attempt.need.environment, attempt.instances)
        with self._changed:
            self._forget(job.row)
            if again:
                _enter(job, "RUNNABLE")
                kept = attempt.instances if keeps else ()
                self._waiting.append(Waiting(job, attempt.need, kept))
            else:
                status = "SUCCEEDED" if outcome.succeeded else "FAILED"
                enter(tables.jobs(job.call), job.row, status, outcome.failure.status_reason)
            self._changed.notify()

    def _release(self, waiting: Waiting, *, keep: bool) -> None:
        """Take the instances from a job that waits, which are kept where there is reason."""
        running = waiting.let_go()
        if waiting.need and running:
            # Whoever hears of their end takes the guard.
            leaving = (waiting.job.call, waiting.need.environment, running)
            target = self.idle.give_back if keep else terminate
            threading.Thread(target=target, args=leaving, daemon=True).start()

    def _settle_idle(self, attempt: Watched) -> None:
        self.idle.of(attempt.job.call, attempt.need.environment).settle_soon()

    def _is_placing(self, environment: Row) -> bool:
        """Return whether instances of an environment are being launched for a job."""
        return any(
            attempt.need.environment is environment
            for attempt in self._attempts.values()
            if attempt.job.row["jobQueue"] in self._placing
            if self._placing[attempt.job.row["jobQueue"]].job is attempt.job
        )

    def _note_idle(self) -> None:
        with self._changed:
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
                looks = [
                    look for queue in by_queue(self._waiting) for look in self._start_jobs(queue)
                ]
                self._changed.wait(max(0, min(looks) - monotonic()) if looks else None)

    def _consider(self, waiting: Waiting) -> None:
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

    def _start_jobs(self, jobs: list[Waiting]) -> list[float]:
        """Start the first job of a queue, if it can; return when to look at it again."""
        first = jobs[0]
        row = first.job.row
        if row["jobQueue"] in self._placing:
            return []
        if first.again_at <= monotonic():
            try:
                running = [attempt.need for attempt in self._attempts.values()]
                need = need_now(first.job, self.idle, running)
            except CannotPlace as reason:
                first.block(str(reason))
            else:
                if need:
                    self._start(first, need)
                return []
        limits = time_limits(first)
        if limits and min(limits) <= monotonic():
            row["isCancelled"] = True
            cause = (first.reason or "").partition(" ")[0]
            self._fail(first, f"Canceled by JobStateTimeLimit action due to reason: {cause}")
            return self._start_jobs(jobs[1:]) if jobs[1:] else []
        return [*limits, *([first.again_at] if first.again_at > monotonic() else [])]

    def _start(self, waiting: Waiting, need: Need) -> None:
        job = waiting.job
        self._waiting.remove(waiting)
        if waiting.need and waiting.need.environment is not need.environment:
            self._release(waiting, keep=True)
        idle = iter(
            self.idle.of(job.call, need.environment).take(
                need, need.count - sum(each is not None for each in waiting.instances)
            )
        )
        earlier = waiting.instances or [None] * need.count
        waiting.tried()
        attempt = Attempt(
            job,
            need,
            earlier=[each or next(idle, None) for each in earlier],
            number=len(job.row["attempts"]) + 1,
            queue=queue_of(job)["jobQueueName"],
            hosts=self._hosts,
            watcher=self,
        )
        self._attempts[job.row["jobId"]] = attempt
        self._placing[job.row["jobQueue"]] = waiting
        attempt.start()

    def _fail(self, waiting: Waiting, reason: str) -> None:
        """End a job that waits."""
        self._waiting.remove(waiting)
        _enter(waiting.job, "FAILED", reason)
        self._release(waiting, keep=True)


def _enter(job: Job, status: str, reason: str | None = None) -> None:
    """Bring a job and its nodes into a state."""
    rows = tables.jobs(job.call)
    enter(rows, job.row, status, reason)
    for node in job.nodes:
        if node is not job.row:
            enter(rows, node, status, reason)
