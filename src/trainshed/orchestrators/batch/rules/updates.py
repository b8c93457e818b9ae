"""What a deployment does to jobs that run."""

from collections.abc import Iterator

from trainshed.catalogue.batch import LONGEST_UPDATE_MINUTES
from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.plan import CapacityKind, ClusterPlan

# CloudFormation's schema of schemas, timeoutInMinutes; that of the compute environment has none.
_STACK_WAITS_HOURS = 2


@rule(
    "TS-JOB-001",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="Jobs may run longer than an infrastructure update waits",
    why="""
When the AMI, the launch template or another part of the nodes changes, AWS Batch replaces the
nodes, and waits for running jobs for `jobExecutionTimeoutMinutes`, at most 7,200. A job that
runs longer is ended by a deployment that somebody else makes.
""",
    sources=("https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdatePolicy.html",),
    example="""
instance: {type: trn1.32xlarge}
job: {timeout_hours: 240}
""",
)
def longer_than_an_update(plan: ClusterPlan) -> Iterator[Violation]:
    """A job should not be allowed to run longer than AWS Batch waits for it."""
    hours = plan.jobs.timeout_hours
    if _updates_wait(plan) and hours * 60 > LONGEST_UPDATE_MINUTES:
        yield Violation(
            path=("job", "timeout_hours"),
            message=f"jobs may run {hours} hours, but when the compute environment's "
            f"infrastructure changes AWS Batch ends them after {LONGEST_UPDATE_MINUTES // 60}",
            remedy=_way_to_deploy(plan),
        )


@rule(
    "TS-JOB-028",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="A deployment waits for running jobs, and may fail",
    severity=Severity.INFO,
    basis=Basis.INFERRED,
    why="""
When the AMI, the disk, the launch template or another part of the nodes changes, the compute
environment is `UPDATING` for as long as jobs run on the nodes that it had. CloudFormation waits for
it, and gives up after two hours, as for every type of resource that names no other time. The
environment refuses changes meanwhile, so the rollback fails, too. Jobs go on, and new ones get new
nodes.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html",
        "https://github.com/aws-cloudformation/cloudformation-resource-schema",
    ),
    example="instance: {type: trn1.32xlarge}",
)
def deployment_waits(plan: ClusterPlan) -> Iterator[Violation]:
    """Nobody should change the nodes while a job runs that CloudFormation does not wait for."""
    hours = plan.jobs.timeout_hours
    if _updates_wait(plan) and hours > _STACK_WAITS_HOURS:
        yield Violation(
            path=("job", "timeout_hours"),
            message="a deployment that changes the AMI, the disk or another part of the nodes "
            f"waits for running jobs, which may take {hours} hours, and may fail after "
            f"{_STACK_WAITS_HOURS}",
            remedy=f"{_way_to_deploy(plan)}; a stack that has "
            "failed goes on when the jobs are over: aws cloudformation continue-update-rollback",
        )


def _way_to_deploy(plan: ClusterPlan) -> str:
    """Say how to change the nodes; a reservation has no room for old and new ones at once."""
    idle = "while no job runs (trainshed job list)"
    if plan.capacity.is_reserved:
        return f"deploy such changes {idle}"
    return f"deploy such changes by trainshed apply {plan.name} --blue-green, or {idle}"


def _updates_wait(plan: ClusterPlan) -> bool:
    """Whether the nodes' environment is updated; one on a Capacity Block is replaced."""
    return plan.capacity.kind is not CapacityKind.CAPACITY_BLOCK
