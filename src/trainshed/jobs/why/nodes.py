"""Whether instances that were launched became nodes that take jobs."""

from collections.abc import Iterator
from datetime import timedelta

from trainshed.findings import Finding, Severity
from trainshed.jobs.model import ranges
from trainshed.jobs.why.facts import Facts, Instance

# A node waits up to half an hour for its file system; without one it joins within minutes.
_JOINS_WITHIN = timedelta(minutes=10)
_SILENT_FOR = timedelta(minutes=30)
_SHOWN = 3
_FAILED = "failed: "


def check_boots(facts: Facts) -> Iterator[Finding]:
    """A node whose first boot fails says why, powers itself off and takes no job."""
    failed: dict[str, list[Instance]] = {}
    # EC2 tells a launch's second.
    since = facts.job.created_at.replace(microsecond=0)
    for each in facts.instances if facts.waits else ():
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


def check_joined(facts: Facts) -> Iterator[Finding]:
    """A node takes jobs after its ECS agent has joined the compute environment's cluster."""
    if facts.joined is None or not facts.waits:
        return
    late = [
        each
        for each in facts.instances
        if each.is_running
        and each.instance_id not in facts.joined
        and facts.now - each.launched_at >= _JOINS_WITHIN
    ]
    if late:
        minutes = min(facts.now - each.launched_at for each in late) // timedelta(minutes=1)
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


def check_containers(facts: Facts) -> Iterator[Finding]:
    """A node pulls the container image and unpacks it before its command starts."""
    job = facts.job
    if not job.pulling:
        return
    since = ""
    if job.started_at:
        minutes = (facts.now - job.started_at) // timedelta(minutes=1)
        since = f", {minutes} minutes after the main node's"
    yield Finding(
        rule="TS-JOB-030",
        severity=Severity.WARNING,
        message=f"the container of node {ranges(each.index for each in job.pulling)} of "
        f"{job.node_count} is not up{since}: the node pulls {job.image} and unpacks it",
        remedy="wait: trainshed-launch gives the nodes half an hour, or what its --wait says; a "
        "smaller image, or one in this region's ECR, comes sooner",
    )


def check_silence(facts: Facts) -> Iterator[Finding]:
    """A training prints now and then; one that hangs prints nothing until its time-out."""
    job, printed = facts.job, facts.printed
    since = printed.at if printed else job.started_at
    if job.status != "RUNNING" or since is None or facts.now - since < _SILENT_FOR:
        return
    minutes = (facts.now - since) // timedelta(minutes=1)
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
