"""What AWS Batch tries again, and gives to a job's container."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.plan import CapacityKind, ClusterPlan

# EC2 API reference, DescribeCapacityBlockOfferings, CapacityDurationHours: 182 days.
_LONGEST_BLOCK_HOURS = 182 * 24


@rule(
    "TS-BAT-001",
    over=clusters,
    title="A job of several nodes is not tried again when it loses one",
    why="""
AWS Batch tries a job again only while it has attempts left. With one attempt, a job ends for
good with the first node that fails, and with many nodes for days one fails sooner or later.
""",
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
job: {attempts: 1}
""",
)
def one_attempt(plan: ClusterPlan) -> Iterator[Violation]:
    """A job that loses a node should be tried again."""
    batch, nodes = plan.jobs, plan.nodes.max
    if isinstance(batch, BatchPlan) and batch.attempts == 1 and nodes > 1:
        yield Violation(
            path=("job", "attempts"),
            message=f"a job of up to {nodes} nodes and {batch.timeout_hours} hours has one "
            "attempt: it ends with the first node that is lost",
            remedy="give two attempts or more, and have jobs resume from their last checkpoint",
        )


@rule(
    "TS-BAT-002",
    over=clusters,
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
name: Example
region: us-west-2
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
    if isinstance(batch, BatchPlan) and block and batch.attempts == 1:
        yield Violation(
            path=("job", "attempts"),
            message="a change of the nodes ends the jobs that run on the Capacity Block, and with "
            "one attempt they do not run again",
            remedy="give two attempts or more, or deploy such changes while no job runs",
        )


@rule(
    "TS-BAT-003",
    over=clusters,
    title="A job may run longer than any Capacity Block lasts",
    why="""
A Capacity Block lasts at most 182 days, and EC2 ends its nodes from 30 minutes before its end on.
A time-out beyond that never applies: the job ends with its nodes, as if they had failed.
""",
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",),
    example="""
name: Example
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge}
capacity: {capacity_block: cr-0123456789abcdef0}
job: {timeout_hours: 8760}
""",
)
def longer_than_a_block(plan: ClusterPlan) -> Iterator[Violation]:
    """A time-out should end a job before its nodes go."""
    hours = plan.jobs.timeout_hours
    if plan.capacity.kind is CapacityKind.CAPACITY_BLOCK and hours > _LONGEST_BLOCK_HOURS:
        yield Violation(
            path=("job", "timeout_hours"),
            message=f"jobs may run {hours} hours, and the longest Capacity Block lasts "
            f"{_LONGEST_BLOCK_HOURS}",
            remedy="give fewer hours than the block has left, so that jobs end by themselves",
        )


@rule(
    "TS-BAT-004",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="Most of the container's memory may go into /dev/shm",
    why="""
`/dev/shm` is a file system in memory, and what is written there counts as the container's memory.
A job that fills it leaves its processes the rest, and the kernel ends them when they need more.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/APIReference/API_LinuxParameters.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
job: {shared_memory_gib: 400}
""",
)
def large_shared_memory(plan: ClusterPlan) -> Iterator[Violation]:
    """Processes need memory of their own."""
    assert isinstance(plan.jobs, BatchPlan)
    container = plan.jobs.container
    rest = container.memory_mib - container.shared_memory_mib
    if rest < container.shared_memory_mib:
        yield Violation(
            path=("job", "shared_memory_gib"),
            message=f"/dev/shm may take {container.shared_memory_mib} of the "
            f"{container.memory_mib} MiB of the container: {rest} MiB are left for processes",
            remedy="give half of the container's memory at most; leave the field out for an eighth",
        )


@rule(
    "TS-BAT-005",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="/dev/shm is small for the node's accelerators",
    why="""
Processes of one node hand data to each other through `/dev/shm`: workers that load data for
PyTorch, and the collective libraries. When it is full they fail with `Bus error` or
`No space left on device`. NVIDIA recommends 1 GiB for NCCL alone.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        "https://docs.pytorch.org/docs/stable/multiprocessing.html",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {shared_memory_gib: 2}
""",
)
def small_shared_memory(plan: ClusterPlan) -> Iterator[Violation]:
    """Each accelerator's process needs some shared memory."""
    assert isinstance(plan.jobs, BatchPlan)
    container, accelerators = plan.jobs.container, plan.instance.accelerator.count
    by_default = container.memory_mib // 8
    if container.shared_memory_mib < min(accelerators * 1024, by_default):
        yield Violation(
            path=("job", "shared_memory_gib"),
            message=f"{container.shared_memory_mib // 1024} GiB of /dev/shm are less than "
            f"1 GiB for each of the {accelerators} accelerators of {plan.instance.name}",
            remedy="leave it out for an eighth of the container's memory, "
            f"{by_default // 1024} GiB",
        )
