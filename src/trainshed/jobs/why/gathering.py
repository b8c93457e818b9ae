"""Gather what is known of a job and of what it needs."""

from dataclasses import replace
from datetime import datetime

from trainshed.guard.outputs import stopped
from trainshed.jobs.idle_nodes import look_at_idle
from trainshed.jobs.model import Job
from trainshed.jobs.scheduler import Scheduler
from trainshed.jobs.why.evidence import Evidence, Printed
from trainshed.jobs.why.questions import Questions

_SHOWN_LINES = 10


def gather(scheduler: Scheduler, job: Job, now: datetime) -> Evidence:
    """Return what AWS says about a job.

    A question that AWS refuses leaves its answer empty and is noted; the others are asked all the
    same.

    Args:
        scheduler: what runs it.
        job: the job.
        now: the time.
    """
    questions = Questions()
    printed = questions.ask(lambda: _printed(scheduler, job), None)
    evidence = scheduler.evidence(job, now, questions)
    by_guard = stopped(scheduler.outputs, job.stopped_at or now)
    if by_guard is None:
        idle = look_at_idle(scheduler.region, scheduler.cluster, scheduler.outputs, questions)
        by_guard = idle if idle and idle.jobs_wait else None
    unanswered = tuple(dict.fromkeys(questions.refusals))
    return replace(
        evidence,
        stopped=by_guard,
        printed=printed,
        unanswered=unanswered,
    )


def _printed(scheduler: Scheduler, job: Job) -> Printed | None:
    """Return what the first node that failed, or else the main node, printed last.

    Its latest attempt whose container started counts.
    """
    failed = (node for node in job.nodes if node.ending and node.ending.exit_code)
    node = next(failed, job.main)
    stream = node.log or (node.past_logs[-1] if node.past_logs else None)
    if stream is None:
        return None
    end = scheduler.logs.end(stream, _SHOWN_LINES)
    lines = [line for line in end.lines if line.strip()]
    if not lines or end.at is None:
        return None
    return Printed(node=node.index, lines=tuple(lines[-_SHOWN_LINES:]), at=end.at)
