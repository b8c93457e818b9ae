"""Whether the queue and its compute environments can run the job."""

from collections.abc import Iterator

from trainshed.findings import Finding, Severity
from trainshed.jobs.model import JobState
from trainshed.jobs.why.evidence import Evidence

_SHOWN = 5
# AWS Batch user guide, "Jobs stuck in a RUNNABLE status": beginnings of a statusReason.
_REMEDIES = {
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY": "EC2 has no such instances free in this zone; wait, "
    "ask for fewer nodes, or use another zone, a reservation or a Capacity Block (docs/spec.md)",
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE": "raise instance.nodes.max in the cluster "
    "file and deploy, or ask for fewer nodes",
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT": "no instance type of the compute environment has "
    "as many vCPUs, as much memory or as many GPUs; deploy the cluster again, which makes a job "
    "definition that fits",
    "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS": "leave serviceRole of the compute environment "
    "out, so that AWS Batch uses AWSServiceRoleForBatch, and check your organisation's policies",
    "MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED": "EC2 refuses the instance type in "
    "this zone, or the launch template for it: trainshed explain names zones that have it",
    "ACTION_REQUIRED": "fix the compute environment; its own statusReason says what is wrong",
}
_OTHERWISE = "wait some minutes and ask again; the other findings may say more"


def check_dependencies(evidence: Evidence) -> Iterator[Finding]:
    """A job starts after those that it depends on, and fails with them."""
    job = evidence.job
    if job.depends_on and job.state in (JobState.PENDING, JobState.FAILED) and not job.attempts:
        yield Finding(
            rule="TS-JOB-002",
            severity=Severity.ERROR if job.state.is_over else Severity.WARNING,
            message=f"it depends on {', '.join(job.depends_on)}, and starts only after success",
            remedy=f"trainshed job why {job.depends_on[0]}",
        )


def check_queue(evidence: Evidence) -> Iterator[Finding]:
    """A queue gives its jobs to nodes when it is enabled and valid."""
    queue = evidence.queue
    if queue and evidence.waits and (queue.state != "ENABLED" or queue.status == "INVALID"):
        said = f" ({queue.reason})" if queue.reason else ""
        yield Finding(
            rule="TS-JOB-003",
            severity=Severity.ERROR,
            message=f"job queue {queue.name} is {queue.state} and {queue.status}{said}",
            remedy=f"aws batch update-job-queue --job-queue {queue.name} --state ENABLED"
            if queue.state != "ENABLED"
            else "fix its compute environment, or deploy the cluster again",
        )


def check_environments(evidence: Evidence) -> Iterator[Finding]:
    """A compute environment launches nodes when it is enabled and valid."""
    for each in evidence.environments if evidence.waits else ():
        said = f" ({each.reason})" if each.reason else ""
        if each.status == "INVALID":
            yield Finding(
                rule="TS-JOB-004",
                severity=Severity.ERROR,
                message=f"compute environment {each.name} is INVALID{said}",
                remedy="put right what the reason names, then: aws batch "
                f"update-compute-environment --compute-environment {each.name} --state ENABLED",
            )
        elif each.state != "ENABLED":
            yield Finding(
                rule="TS-JOB-004",
                severity=Severity.ERROR,
                message=f"compute environment {each.name} is {each.state}{said}; it is disabled "
                "when too many nodes fail their first boot (docs/node-programs.md)",
                remedy="find out why, then: aws batch update-compute-environment "
                f"--compute-environment {each.name} --state ENABLED",
            )


def check_kinds(evidence: Evidence) -> Iterator[Finding]:
    """AWS Batch runs multi-node parallel jobs on managed on-demand EC2 only."""
    for each in evidence.environments if evidence.waits and evidence.job.node_count > 1 else ():
        if each.kind != "EC2":
            yield Finding(
                rule="TS-JOB-005",
                severity=Severity.ERROR,
                message=f"compute environment {each.name} is of type {each.kind}, on which "
                "multi-node jobs stay RUNNABLE forever",
                remedy="submit to a queue whose compute environments are of type EC2",
            )


def check_size(evidence: Evidence) -> Iterator[Finding]:
    """The whole job must fit in one compute environment at once."""
    for each in evidence.environments if evidence.waits else ():
        if each.kind == "EC2" and evidence.vcpus > each.max_vcpus:
            job = evidence.job
            yield Finding(
                rule="TS-JOB-006",
                severity=Severity.ERROR,
                message=f"{job.node_count} nodes of {job.node_vcpus} vCPUs need {evidence.vcpus}, "
                f"and compute environment {each.name} has at most {each.max_vcpus}",
                remedy=f"submit with --nodes {each.max_vcpus // max(1, job.node_vcpus)}, or raise "
                "instance.nodes.max in the cluster file and deploy",
            )


def check_status_reason(evidence: Evidence) -> Iterator[Finding]:
    """AWS Batch says itself why the job at the head of a queue is stuck."""
    reason = evidence.job.reason
    if evidence.waits and reason:
        remedy = next((text for code, text in _REMEDIES.items() if reason.startswith(code)), None)
        yield Finding(
            rule="TS-JOB-007",
            severity=Severity.ERROR if remedy else Severity.WARNING,
            message=f"{evidence.service} says: {reason.rstrip('.')}",
            remedy=remedy or _OTHERWISE,
        )


def check_ahead(evidence: Evidence) -> Iterator[Finding]:
    """Jobs of a queue get nodes in their order, and one that cannot be placed blocks the rest."""
    others = (*evidence.placed, *evidence.ahead)
    if evidence.job.state is not JobState.QUEUED or not others:
        return
    # Oldest first: it is the one that blocks.
    jobs = sorted(others, key=lambda job: job.created_at)
    nodes = sum(job.nodes for job in jobs)
    names = ", ".join(f"{job.name} {job.job_id} {job.status}" for job in jobs[:_SHOWN])
    more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
    yield Finding(
        rule="TS-JOB-008",
        severity=Severity.WARNING,
        message=f"{len(jobs)} jobs of {nodes} nodes are before it in the queue: {names}{more}",
        remedy="wait, or end one: trainshed job cancel JOB; why the first waits: "
        f"trainshed job why {jobs[0].job_id}",
    )
