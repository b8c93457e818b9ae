"""What AWS Batch tries again."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.spec.job import ATTEMPTS_MAX


@rule(
    "TS-BAT-001",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="A job of several nodes, or on Spot, is not tried again when it loses one",
    why="""
AWS Batch tries a job again only while it has attempts left. With one attempt, a job ends for
good with the first node that fails, and with many nodes for days one fails sooner or later. A node
on Spot is taken back whenever EC2 needs it.
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
    spot = plan.capacity.kind is CapacityKind.SPOT
    if batch.attempts == 1 and (nodes > 1 or spot):
        what = "a job on Spot" if spot else f"a job of up to {nodes} nodes"
        yield Violation(
            path=("job", "attempts"),
            message=f"{what} and {batch.timeout_hours} hours has one "
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


@rule(
    "TS-BAT-016",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="A job has fewer attempts than the calendar has windows",
    severity=Severity.INFO,
    why="""
The nodes of a Capacity Block go before its end, which costs the job that runs on them an attempt.
A job that is to go on through all windows of the calendar needs one attempt for each of them, and
further ones for nodes that it loses.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge}
capacity:
  calendar:
  - {capacity_block: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}
  - {capacity_block: cr-0fedcba9876543210, from: 2126-12-10T11:30Z, until: 2126-12-15T11:30Z}
job: {attempts: 1}
""",
)
def fewer_attempts_than_windows(plan: ClusterPlan) -> Iterator[Violation]:
    """A job should be able to go on in the last window of its calendar."""
    batch, windows = plan.jobs, len(plan.capacity.calendar)
    assert isinstance(batch, BatchPlan)
    useful = min(windows, ATTEMPTS_MAX)
    if plan.capacity.kind is CapacityKind.CAPACITY_BLOCK and batch.attempts < useful:
        yield Violation(
            path=("job", "attempts"),
            message=f"the calendar has {windows} windows, each of which takes an attempt of the "
            f"job that runs in it, and jobs have {batch.attempts}",
            remedy=f"set job.attempts to {useful} or more, if jobs are to go on from window to "
            "window",
        )
