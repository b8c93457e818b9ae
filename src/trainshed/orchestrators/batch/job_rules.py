"""Whether a job's queue and its compute environments can run it."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import JobState
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs
from trainshed.orchestrators.batch.traits import SERVICE

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


@rule(
    "TS-JOB-002",
    over=jobs,
    title="The job waits for another one, or failed with it",
    why="""
The job depends on others; an error when one of them has failed.

A job starts after those that it depends on, and fails with them.
""",
    remedy="Run `trainshed job why` for the other job",
)
def dependencies(evidence: Evidence) -> Iterator[Violation]:
    """A job starts after those that it depends on, and fails with them."""
    job = evidence.job
    if job.depends_on and job.state in (JobState.PENDING, JobState.FAILED) and not job.attempts:
        yield Violation(
            severity=Severity.ERROR if job.state.is_over else Severity.WARNING,
            message=f"it depends on {', '.join(job.depends_on)}, and starts only after success",
            remedy=f"trainshed job why {job.depends_on[0]}",
        )


@rule(
    "TS-JOB-003",
    over=jobs,
    title="The job queue is disabled or invalid",
    severity=Severity.ERROR,
    why="""
Its queue is disabled or invalid.

A queue gives its jobs to nodes when it is enabled and valid.
""",
    remedy="Enable it, or fix its compute environment",
)
def queue(evidence: Evidence) -> Iterator[Violation]:
    """A queue gives its jobs to nodes when it is enabled and valid."""
    queue = evidence.queue
    if queue and evidence.waits and (queue.state != "ENABLED" or queue.status == "INVALID"):
        said = f" ({queue.reason})" if queue.reason else ""
        yield Violation(
            message=f"job queue {queue.name} is {queue.state} and {queue.status}{said}",
            remedy=f"aws batch update-job-queue --job-queue {queue.name} --state ENABLED"
            if queue.state != "ENABLED"
            else "fix its compute environment, or deploy the cluster again",
        )


@rule(
    "TS-JOB-004",
    over=jobs,
    title="A compute environment is disabled or invalid",
    severity=Severity.ERROR,
    why="""
The compute environment is disabled, for instance because too many nodes failed their first boot, or
invalid.

A compute environment launches nodes when it is enabled and valid.
""",
    remedy="Fix what its reason names, and enable it",
)
def environments(evidence: Evidence) -> Iterator[Violation]:
    """A compute environment launches nodes when it is enabled and valid."""
    for each in evidence.environments if evidence.waits else ():
        said = f" ({each.reason})" if each.reason else ""
        if each.status == "INVALID":
            yield Violation(
                message=f"compute environment {each.name} is INVALID{said}",
                remedy="fix what the reason names, then: aws batch update-compute-environment "
                f"--compute-environment {each.name} --state ENABLED",
            )
        # Once the guard has disabled it, TS-JOB-038 says so.
        elif each.state != "ENABLED" and not evidence.stopped:
            yield Violation(
                message=f"compute environment {each.name} is {each.state}{said}; it is disabled "
                "when too many nodes fail their first boot (docs/node-programs.md)",
                remedy="find out why, then: aws batch update-compute-environment "
                f"--compute-environment {each.name} --state ENABLED",
            )


@rule(
    "TS-JOB-005",
    over=jobs,
    title="A compute environment is of a type that runs no multi-node jobs",
    severity=Severity.ERROR,
    why="""
The compute environment is of a type that runs no multi-node jobs, for instance SPOT.

AWS Batch runs multi-node parallel jobs on managed on-demand EC2 only. A job that was submitted
before its cluster moved to Spot is such a one, also on one node.
""",
    remedy="Use a queue whose compute environments are of type EC2",
)
def kinds(evidence: Evidence) -> Iterator[Violation]:
    """AWS Batch runs multi-node parallel jobs on managed on-demand EC2 only."""
    for each in evidence.environments if evidence.waits and evidence.job.multi_node else ():
        if each.kind != "EC2":
            yield Violation(
                message=f"compute environment {each.name} is of type {each.kind}, on which "
                "multi-node jobs stay RUNNABLE forever",
                remedy="submit to a queue whose compute environments are of type EC2; if the "
                "cluster has moved to Spot since, end this job, and submit it again",
            )


@rule(
    "TS-JOB-006",
    over=jobs,
    title="The job needs more vCPUs than the compute environment may have",
    severity=Severity.ERROR,
    why="The whole job must fit in one compute environment at once.",
    remedy="Use fewer nodes, or raise `instance.nodes.max`",
)
def size(evidence: Evidence) -> Iterator[Violation]:
    """The whole job must fit in one compute environment at once."""
    for each in evidence.environments if evidence.waits else ():
        if each.kind in ("EC2", "SPOT") and evidence.vcpus > each.max_vcpus:
            job = evidence.job
            yield Violation(
                message=f"{job.node_count} nodes of {job.node_vcpus} vCPUs need {evidence.vcpus}, "
                f"and compute environment {each.name} has at most {each.max_vcpus}",
                remedy=f"submit with --nodes {each.max_vcpus // max(1, job.node_vcpus)}, or raise "
                "instance.nodes.max in the cluster file and deploy",
            )


@rule(
    "TS-JOB-007",
    over=jobs,
    title="AWS Batch says why the job waits",
    severity=Severity.ERROR,
    why="""
AWS Batch itself says why the job waits; a warning when the reason is not one of its documented
ones.

AWS Batch says itself why the job at the head of a queue is stuck.
""",
    remedy="Do what the finding says about the reason",
)
def status_reason(evidence: Evidence) -> Iterator[Violation]:
    """AWS Batch says itself why the job at the head of a queue is stuck."""
    reason = evidence.job.reason
    if evidence.service == SERVICE and evidence.waits and reason:
        remedy = next((text for code, text in _REMEDIES.items() if reason.startswith(code)), None)
        yield Violation(
            severity=Severity.ERROR if remedy else Severity.WARNING,
            message=f"{evidence.service} says: {reason.rstrip('.')}",
            remedy=remedy or _OTHERWISE,
        )
