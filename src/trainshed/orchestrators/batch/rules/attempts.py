"""What AWS Batch tries again."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.plan import CapacityKind, ClusterPlan


@rule(
    "TS-BAT-001",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="A job of several nodes is not tried again when it loses one",
    why="""
AWS Batch tries a job again only while it has attempts left. With one attempt, a job ends for
good with the first node that fails, and with many nodes for days one fails sooner or later.
""",
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 16}}
job: {attempts: 1}
""",
)
def one_attempt(plan: ClusterPlan) -> Iterator[Violation]:
    """A job that loses a node should be tried again."""
    batch, nodes = plan.jobs, plan.nodes.max
    assert isinstance(batch, BatchPlan)
    if batch.attempts == 1 and nodes > 1:
        yield Violation(
            path=("job", "attempts"),
            message=f"a job of up to {nodes} nodes and {batch.timeout_hours} hours has one "
            "attempt: it ends with the first node that is lost",
            remedy="give two attempts or more, and have jobs resume from their last checkpoint",
        )


@rule(
    "TS-BAT-002",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="A deployment ends jobs on a Capacity Block, and they are not tried again",
    why="""
A compute environment on a Capacity Block uses `BEST_FIT`, which AWS Batch cannot update: a change
of the nodes (AMI, disk, interfaces, type) makes another environment, and ends what runs on the
first. Jobs run again on the new nodes only while they have attempts left.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html",
        "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",
    ),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge}
capacity: {capacity_block: cr-0123456789abcdef0}
job: {attempts: 1}
""",
)
def ended_by_a_deployment(plan: ClusterPlan) -> Iterator[Violation]:
    """A job that a deployment ends should be tried again."""
    batch = plan.jobs
    block = plan.capacity.kind is CapacityKind.CAPACITY_BLOCK
    assert isinstance(batch, BatchPlan)
    if block and batch.attempts == 1:
        yield Violation(
            path=("job", "attempts"),
            message="a change of the nodes ends the jobs that run on the Capacity Block, and with "
            "one attempt they do not run again",
            remedy="give two attempts or more, or deploy such changes while no job runs",
        )
