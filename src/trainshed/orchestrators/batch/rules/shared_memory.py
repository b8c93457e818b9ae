"""How much of a container's memory goes into /dev/shm."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.plan import ClusterPlan


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
