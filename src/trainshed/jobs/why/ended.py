"""How the job, or an attempt of it, ended."""

import signal
from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import EndCause, Ending, Job, JobState, ranges
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs
from trainshed.jobs.why.printed import missing
from trainshed.nodes.exit_codes import PEER_LOST

# Causes whose exit codes are those of processes that were told to end.
_TOLD = (EndCause.STOPPED, EndCause.TIMED_OUT, EndCause.WAITED_TOO_LONG)
_NO_COMMAND = (
    "the command is not in the container image {image}; with --plain it is started without "
    "trainshed-launch, which only our images have"
)
NOT_PULLED = (
    "the container image {image} does not exist, or nodes are not allowed to pull it, or cannot "
    "reach it: build and push it (trainshed container push CLUSTER), and check the tag; on the "
    "embedded AWS, trainshed offline image CLUSTER puts a stand-in there"
)
# What ECS says about a container that did not start, and what to do.
_NOT_STARTED = {
    "cannotpullcontainererror": NOT_PULLED,
    "log group does not exist": "somebody deleted the log group; create it again: aws logs "
    "create-log-group --log-group-name {log_group}",
    "executable file not found": _NO_COMMAND,
    "no such file or directory": _NO_COMMAND,
    "resourceinitializationerror": "nodes may not read the secret, or cannot reach it",
    "outofmemory": "the container needs more memory than the node has: use smaller batches, or a "
    "larger instance type",
}
_NO_SUCH_COMMAND = 127
# Docker's codes and those of trainshed-launch; docs/jobs.md.
_CODES = {
    1: "the command itself failed",
    78: "the variables of the job or the options of the launcher are wrong",
    125: "the container could not be run",
    126: "the command cannot be executed; is it executable, and for this architecture?",
    _NO_SUCH_COMMAND: "the command is not in the container image; with --plain it is started "
    "without trainshed-launch, which only our images have",
    137: "the process was killed by SIGKILL, mostly because memory ran out",
    143: "the process was ended by SIGTERM",
    PEER_LOST: "a node of the job was lost or taken back, lacks a device, or did not come in time",
}


@rule(
    "TS-JOB-014",
    over=jobs,
    title="A container did not run",
    severity=Severity.ERROR,
    why="""
A container did not run: the image, its log group or the command is missing, or the memory is too
small.

A container that does not start ends the attempt, before anything is printed.
""",
    remedy="Do what the finding says about the reason",
)
def container(evidence: Evidence) -> Iterator[Violation]:
    """A container that does not start ends the attempt, before anything is printed."""
    for ending in dict.fromkeys(_endings(evidence)):
        if not ending.reason or ending.exit_code not in (None, 127, 137):
            continue
        reason = ending.reason.casefold()
        known = [text for part, text in _NOT_STARTED.items() if part in reason]
        remedy = (known or ["fix what the reason names"])[0]
        if known or ending.cause is not EndCause.HOST_ENDED:
            yield Violation(
                message=f"the container did not run: {ending.reason.rstrip('.')}",
                remedy=remedy.format(image=evidence.job.image, log_group=evidence.job.log_group),
            )


@rule(
    "TS-JOB-015",
    over=jobs,
    title="A node ended with an exit code",
    severity=Severity.ERROR,
    why="""
A node ended with an exit code. The finding explains the code, and names the program or file that
the last lines say is missing.

The exit code of the main node's container is that of the launcher.
""",
    remedy="The node's log",
)
def exit_code(evidence: Evidence) -> Iterator[Violation]:
    """The exit code of the main node's container is that of the launcher."""
    job = evidence.job
    if job.cause in _TOLD or job.state is JobState.SUCCEEDED:
        return
    again = _again(job)
    for code in dict.fromkeys(ending.exit_code for ending in _endings(evidence)):
        if not code:
            continue
        nodes = [
            node.index for node in job.nodes if node.ending and node.ending.exit_code == code
        ] or [job.main.index]
        meaning = _lacked(evidence, nodes) or _meaning(job, code)
        tried = f", tried {len(job.attempts)} of {job.most_attempts} times"
        yield Violation(
            message=f"node {ranges(nodes)} ended with exit code {code}: {meaning}"
            f"{tried if job.most_attempts > 1 else ''}",
            remedy=f"trainshed job logs {job.job_id} --node {nodes[0]}"
            + (f"; submit it again: {again}" if code == PEER_LOST and again else ""),
        )


@rule(
    "TS-JOB-016",
    over=jobs,
    title="The host of a node ended",
    severity=Severity.ERROR,
    why="The host of a node ended, which ends the node.",
    remedy="Have the job resume from a checkpoint",
)
def host(evidence: Evidence) -> Iterator[Violation]:
    """The host of a node ended, which ends the node."""
    job = evidence.job
    again = _again(job)
    endings = (*_endings(evidence), *(node.ending for node in job.nodes if node.ending))
    lost = [
        each.status_reason
        for each in endings
        if each.cause is EndCause.HOST_ENDED and job.state is not JobState.SUCCEEDED
    ]
    for reason in dict.fromkeys(filter(None, lost)):
        yield Violation(
            message=f"{reason.rstrip('.')}, while it ran a node of the job",
            remedy="if nobody ended it, its hardware failed, its Capacity Block ended, or EC2 took "
            "it back from Spot; "
            + (
                f"{evidence.service} tries such a job {job.most_attempts} times, so have it"
                if job.most_attempts > 1
                else f"submit the job again{f': {again}' if again else ''}, and have it"
            )
            + " resume from a checkpoint",
        )


@rule(
    "TS-JOB-017",
    over=jobs,
    title="An attempt took longer than its time-out",
    severity=Severity.ERROR,
    why="A job ends when an attempt takes longer than it may.",
    remedy="Give a longer `--timeout-hours` or `job.timeout_hours`",
)
def timeout(evidence: Evidence) -> Iterator[Violation]:
    """A job ends when an attempt takes longer than it may."""
    job = evidence.job
    if job.state is JobState.FAILED and job.cause is EndCause.TIMED_OUT:
        yield Violation(
            message="it took longer than its time-out"
            + (f" of {job.timeout_seconds} seconds" if job.timeout_seconds else ""),
            remedy="submit with a longer --timeout-hours, or raise job.timeout_hours of the "
            "cluster file and deploy",
        )


@rule(
    "TS-JOB-018",
    over=jobs,
    title="The queue ended the job because it waited too long",
    severity=Severity.ERROR,
    why="A queue ends a job that waits longer than the queue allows; the reason is quoted.",
    remedy="Fix what the reason names, and submit it again",
)
def waited_too_long(evidence: Evidence) -> Iterator[Violation]:
    """A queue ends a job that waits longer than the queue allows."""
    job = evidence.job
    if job.state is JobState.FAILED and job.reason and job.cause is EndCause.WAITED_TOO_LONG:
        yield Violation(
            message=f"the queue ended it because it waited too long: {job.reason.rstrip('.')}",
            remedy="submit it again when there is capacity, or with fewer nodes, or fix what the "
            "reason names first; job.capacity_wait_hours limits the wait for capacity",
        )


@rule(
    "TS-JOB-019",
    over=jobs,
    title="Somebody ended the job",
    severity=Severity.ERROR,
    why="Somebody asked AWS to end the job; the reason is quoted.",
    remedy="Submit it again",
)
def stopped(evidence: Evidence) -> Iterator[Violation]:
    """Somebody asked AWS to end the job."""
    job = evidence.job
    # Of a job that the guard has ended, TS-JOB-038 says so.
    if evidence.ended_at_expiry:
        return
    if job.state is JobState.FAILED and job.reason and job.cause is EndCause.STOPPED:
        yield Violation(
            message=f"it was ended on request: {job.reason.rstrip('.')}",
            remedy="submit it again",
        )


def _endings(evidence: Evidence) -> tuple[Ending, ...]:
    """Return how the attempts ended, the newest first, when that did not succeed."""
    return () if evidence.job.state is JobState.SUCCEEDED else evidence.job.attempts[::-1]


def _again(job: Job) -> str | None:
    """Return the command that submits a job again, where nothing else tries it again."""
    return f"trainshed job again {job.job_id}" if job.submission else None


def _lacked(evidence: Evidence, nodes: list[int]) -> str | None:
    """Return what a node lacked, if one of these is the node whose last lines say so."""
    printed = evidence.printed
    lacked = missing(printed.lines) if printed and printed.node in nodes else None
    where = "in the container image" if evidence.job.image else "on the node"
    return f"{lacked} is not {where}" if lacked else None


def _meaning(job: Job, code: int) -> str:
    if code == _NO_SUCH_COMMAND and not job.image:
        return "the command is not on the node"
    if code in _CODES:
        return _CODES[code]
    if 128 < code < 128 + signal.NSIG:
        return f"the process was ended by signal {code - 128}"
    return "the command's own"
