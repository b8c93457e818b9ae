"""The parts of a cluster that run its jobs on AWS Batch."""

from collections.abc import Iterator

from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.parts.image import image_part, shown_image
from trainshed.parts.job import job_facts
from trainshed.parts.model import Arrow, Fact, PartResources, PlannedPart
from trainshed.plan import CapacityKind, ClusterPlan

STARTS_JOBS = ("job", "queue", "environment")


def planned_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what starts the jobs of a cluster, and where its image is."""
    batch = plan.jobs
    assert isinstance(batch, BatchPlan)
    yield PlannedPart(
        kind="job",
        facts=(
            Fact(name="job definition"),
            Fact(name="container image", value=shown_image(batch.image, batch.repository)),
            *job_facts(plan),
            Fact(name="attempts of a job", value=str(batch.attempts), minor=True),
            Fact(
                name="shared memory of a job",
                value=f"{batch.container.shared_memory_mib} MiB",
                minor=True,
            ),
        ),
        resources=PartResources(stack=plan.name, types=("AWS::Batch::JobDefinition",)),
    )
    yield PlannedPart(
        kind="queue",
        facts=(
            Fact(name="job queue"),
            Fact(name="wait for capacity", value=_capacity_wait(plan, batch), minor=True),
        ),
        resources=PartResources(stack=plan.name, types=("AWS::Batch::JobQueue",)),
    )
    yield PlannedPart(
        kind="environment",
        facts=(
            Fact(name="compute environment"),
            Fact(
                name="update time-out",
                value=f"{batch.update_timeout_hours} hours",
                minor=True,
            ),
        ),
        resources=PartResources(stack=plan.name, types=("AWS::Batch::ComputeEnvironment",)),
    )
    yield image_part(batch.repository)


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows between these parts, and to the nodes."""
    yield Arrow(start="job", end="queue", text="runs in")
    yield Arrow(start="queue", end="environment", text="takes nodes of")
    yield Arrow(start="environment", end="nodes", text="launches")
    images = "repository" if plan.repository else "registry"
    yield Arrow(start="nodes", end=images, text="pull the image")


def new_template(plan: ClusterPlan) -> str:
    """Say who takes a new version of the launch template, and when."""
    batch = plan.jobs
    assert isinstance(batch, BatchPlan)
    if plan.capacity.kind is CapacityKind.CAPACITY_BLOCK:
        return "another compute environment, which takes it, replaces this one"
    return (
        "the compute environment takes it, and running jobs may go on for "
        f"{batch.update_timeout_hours} hours"
    )


def _capacity_wait(plan: ClusterPlan, batch: BatchPlan) -> str:
    if plan.capacity.calendar:
        return "until a window begins"
    if batch.capacity_wait_hours:
        return f"{batch.capacity_wait_hours} hours"
    return "until the Capacity Block begins" if batch.multi_node else "as long as it takes"
