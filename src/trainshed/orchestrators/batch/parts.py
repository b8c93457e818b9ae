"""The parts of a cluster that run its jobs on AWS Batch."""

from collections.abc import Iterator

from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.parts.job import job_facts
from trainshed.parts.model import Arrow, Charge, Fact, PartResources, PlannedPart
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.prices import ECR_STORED

STARTS_JOBS = ("job", "queue", "environment")


def planned_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what starts the jobs of a cluster, and where its image is."""
    batch = plan.jobs
    assert isinstance(batch, BatchPlan)
    yield PlannedPart(
        kind="job",
        facts=(
            Fact(name="job definition"),
            Fact(name="container image", value=_image(batch)),
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
            Fact(name="wait for capacity", value=_capacity_wait(batch), minor=True),
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
    yield _images(batch)


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


def _image(batch: BatchPlan) -> str:
    image = batch.image
    if not batch.repository:
        return str(image.uri)
    return f"{batch.repository.name}{'@' if image.digest else ':'}{image.tag_or_digest}"


def _capacity_wait(batch: BatchPlan) -> str:
    hours = batch.capacity_wait_hours
    return f"{hours} hours" if hours else "until the Capacity Block begins"


def _images(batch: BatchPlan) -> PlannedPart:
    own = batch.repository
    if own is None:
        return PlannedPart(kind="registry", facts=(Fact(name="repository of somebody else"),))
    name = own.name + (", existing" if own.existing else "")
    return PlannedPart(
        kind="repository",
        facts=(Fact(name="ECR repository", value=name),),
        charges=(Charge(component="container images in ECR", item=ECR_STORED),),
        resources=PartResources(stack=own.stack_name, types=("AWS::ECR::Repository",)),
    )
