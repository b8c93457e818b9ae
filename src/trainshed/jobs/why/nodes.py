"""Whether instances that were launched became nodes that take jobs."""

from collections.abc import Iterator
from datetime import timedelta

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import JobState, ranges
from trainshed.jobs.why.evidence import Evidence, Instance
from trainshed.jobs.why.judging import jobs

# A node waits up to half an hour for its file system; without one it joins within minutes.
_JOINS_WITHIN = timedelta(minutes=10)
_SILENT_FOR = timedelta(minutes=30)
_SHOWN = 3
_FAILED = "failed: "


@rule(
    "TS-JOB-012",
    over=jobs,
    title="Nodes failed their first boot",
    severity=Severity.ERROR,
    why="""
Nodes failed their first boot; what they signalled is quoted.

A node whose first boot fails says why, powers itself off and takes no job.
""",
    remedy="See in docs/node-programs.md what nodes check",
)
def boots(evidence: Evidence) -> Iterator[Violation]:
    """A node whose first boot fails says why, powers itself off and takes no job."""
    failed: dict[str, list[Instance]] = {}
    # EC2 tells a launch's second.
    since = evidence.job.created_at.replace(microsecond=0)
    for each in evidence.instances if evidence.waits else ():
        if each.boot and each.boot.startswith(_FAILED) and each.launched_at >= since:
            failed.setdefault(each.boot.removeprefix(_FAILED), []).append(each)
    for reason, instances in failed.items():
        yield Violation(
            message=f"the boot of {_ids(instances)} failed: {reason}",
            remedy="docs/node-programs.md says what a node checks; its whole console output: aws "
            f"ec2 get-console-output --output text --instance-id {instances[0].instance_id}",
        )


@rule(
    "TS-JOB-013",
    over=jobs,
    title="Nodes have run for ten minutes, and have not joined ECS",
    severity=Severity.ERROR,
    why="""
Nodes have run for ten minutes, and have not joined ECS.

A node takes jobs after its ECS agent has joined the compute environment's cluster.
""",
    remedy="Check that their subnet reaches ECS, or what their boot waits for",
)
def joined(evidence: Evidence) -> Iterator[Violation]:
    """A node takes jobs after its ECS agent has joined the compute environment's cluster."""
    if evidence.joined is None or not evidence.waits:
        return
    late = [
        each
        for each in evidence.instances
        if each.is_running
        and each.instance_id not in evidence.joined
        and evidence.now - each.launched_at >= _JOINS_WITHIN
    ]
    if late:
        minutes = min(evidence.now - each.launched_at for each in late) // timedelta(minutes=1)
        booted = all(each.boot == "ok" for each in late)
        yield Violation(
            message=f"{_ids(late)} did not join ECS within {minutes} minutes; "
            + ("their boot succeeded" if booted else "their boot has not ended"),
            remedy="check that their subnet reaches ECS (docs/networks.md)"
            if booted
            else "a node waits half an hour for its file system; look at one: aws ec2 "
            f"get-console-output --output text --instance-id {late[0].instance_id}",
        )


@rule(
    "TS-JOB-030",
    over=jobs,
    title="The containers of some nodes are not up",
    why="""
The containers of some nodes are not up: the nodes pull the image.

A node pulls the container image and unpacks it before its command starts.
""",
    remedy="Wait, or use a smaller image",
)
def containers(evidence: Evidence) -> Iterator[Violation]:
    """A node pulls the container image and unpacks it before its command starts."""
    job = evidence.job
    pulling = [node.index for node in job.nodes if node.pulls_image]
    if not pulling:
        return
    since = ""
    if job.started_at:
        minutes = (evidence.now - job.started_at) // timedelta(minutes=1)
        since = f", {minutes} minutes after the main node's"
    yield Violation(
        message=f"the container of node {ranges(pulling)} of "
        f"{job.node_count} is not up{since}: the node pulls {job.image} and unpacks it",
        remedy="wait: trainshed-launch gives the nodes half an hour, or what its --wait says; a "
        "smaller image, or one in this region's ECR, is pulled faster",
    )


@rule(
    "TS-JOB-032",
    over=jobs,
    title="The main node has printed nothing for half an hour",
    why="""
The main node of a job that runs has printed nothing for half an hour.

A training prints now and then; one that hangs prints nothing until its time-out.
""",
    remedy="Look at its last lines; if it hangs, end it",
)
def silence(evidence: Evidence) -> Iterator[Violation]:
    """A training prints now and then; one that hangs prints nothing until its time-out."""
    job, printed = evidence.job, evidence.printed
    since = printed.at if printed else job.started_at
    if job.state is not JobState.RUNNING or since is None or evidence.now - since < _SILENT_FOR:
        return
    minutes = (evidence.now - since) // timedelta(minutes=1)
    yield Violation(
        message=f"the main node has printed nothing for {minutes} minutes",
        remedy=f"if that is not usual, it may hang: trainshed job logs {job.job_id} shows where; "
        f"end it: trainshed job cancel {job.job_id}",
    )


def _ids(instances: list[Instance]) -> str:
    more = f" and {len(instances) - _SHOWN} more" if len(instances) > _SHOWN else ""
    return ", ".join(each.instance_id for each in instances[:_SHOWN]) + more
