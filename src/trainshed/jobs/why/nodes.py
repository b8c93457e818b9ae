"""Whether instances that were launched became nodes that take jobs."""

from collections.abc import Iterator
from datetime import timedelta

from trainshed.findings import Finding, Severity
from trainshed.jobs.model import JobState, ranges
from trainshed.jobs.why.evidence import Evidence, Instance

# A node waits up to half an hour for its file system; without one it joins within minutes.
_JOINS_WITHIN = timedelta(minutes=10)
_SILENT_FOR = timedelta(minutes=30)
_SHOWN = 3
_FAILED = "failed: "


def check_boots(evidence: Evidence) -> Iterator[Finding]:
    """A node whose first boot fails says why, powers itself off and takes no job."""
    failed: dict[str, list[Instance]] = {}
    # EC2 tells a launch's second.
    since = evidence.job.created_at.replace(microsecond=0)
    for each in evidence.instances if evidence.waits else ():
        if each.boot and each.boot.startswith(_FAILED) and each.launched_at >= since:
            failed.setdefault(each.boot.removeprefix(_FAILED), []).append(each)
    for reason, instances in failed.items():
        yield Finding(
            rule="TS-JOB-012",
            severity=Severity.ERROR,
            message=f"the boot of {_ids(instances)} failed: {reason}",
            remedy="docs/node-programs.md says what a node checks; the rest it said: aws ec2 "
            f"get-console-output --output text --instance-id {instances[0].instance_id}",
        )


def check_joined(evidence: Evidence) -> Iterator[Finding]:
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
        yield Finding(
            rule="TS-JOB-013",
            severity=Severity.ERROR,
            message=f"{_ids(late)} run for {minutes} minutes and more, and have not joined ECS; "
            + ("their boot was right" if booted else "their boot has not ended"),
            remedy="check that their subnet reaches ECS (docs/networks.md)"
            if booted
            else "a node waits half an hour for its file system; look at one: aws ec2 "
            f"get-console-output --output text --instance-id {late[0].instance_id}",
        )


def check_containers(evidence: Evidence) -> Iterator[Finding]:
    """A node pulls the container image and unpacks it before its command starts."""
    job = evidence.job
    pulling = [node.index for node in job.nodes if node.pulls_image]
    if not pulling:
        return
    since = ""
    if job.started_at:
        minutes = (evidence.now - job.started_at) // timedelta(minutes=1)
        since = f", {minutes} minutes after the main node's"
    yield Finding(
        rule="TS-JOB-030",
        severity=Severity.WARNING,
        message=f"the container of node {ranges(pulling)} of "
        f"{job.node_count} is not up{since}: the node pulls {job.image} and unpacks it",
        remedy="wait: trainshed-launch gives the nodes half an hour, or what its --wait says; a "
        "smaller image, or one in this region's ECR, comes sooner",
    )


def check_silence(evidence: Evidence) -> Iterator[Finding]:
    """A training prints now and then; one that hangs prints nothing until its time-out."""
    job, printed = evidence.job, evidence.printed
    since = printed.at if printed else job.started_at
    if job.state is not JobState.RUNNING or since is None or evidence.now - since < _SILENT_FOR:
        return
    minutes = (evidence.now - since) // timedelta(minutes=1)
    yield Finding(
        rule="TS-JOB-032",
        severity=Severity.WARNING,
        message=f"the main node has printed nothing for {minutes} minutes",
        remedy=f"if that is not usual, it may hang: trainshed job logs {job.job_id} shows where; "
        f"end it: trainshed job cancel {job.job_id}",
    )


def _ids(instances: list[Instance]) -> str:
    more = f" and {len(instances) - _SHOWN} more" if len(instances) > _SHOWN else ""
    return ", ".join(each.instance_id for each in instances[:_SHOWN]) + more
