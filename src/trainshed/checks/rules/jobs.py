"""How long jobs may run, and what ends them."""

from collections.abc import Iterator

from trainshed.checks.rule import Violation, rule
from trainshed.plan import BatchPlan, CapacityKind, ClusterPlan
from trainshed.plan.batch import LONGEST_UPDATE_MINUTES


@rule(
    "TS-JOB-001",
    title="Jobs may run longer than an infrastructure update waits",
    why="""
When the AMI, the launch template or another part of the nodes changes, AWS Batch replaces the
nodes, and waits for running jobs for `jobExecutionTimeoutMinutes`, at most 7,200. A job that
runs longer is ended by a deployment that somebody else makes.
""",
    sources=("https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdatePolicy.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
job: {timeout_hours: 240}
""",
)
def longer_than_an_update(plan: ClusterPlan) -> Iterator[Violation]:
    """A job should not be allowed to run longer than AWS Batch waits for it."""
    hours = plan.orchestrator.timeout_hours
    if not isinstance(plan.orchestrator, BatchPlan):
        return
    # Updates of an environment on a Capacity Block replace it.
    if plan.capacity.kind is CapacityKind.CAPACITY_BLOCK:
        return
    if hours * 60 > LONGEST_UPDATE_MINUTES:
        yield Violation(
            path=("job", "timeout_hours"),
            message=f"jobs may run {hours} hours, but when the compute environment's "
            f"infrastructure changes AWS Batch ends them after {LONGEST_UPDATE_MINUTES // 60}",
            remedy="deploy such changes while no job runs",
        )
