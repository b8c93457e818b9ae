"""The parts of a cluster that start its jobs: those of AWS Batch, or of plain EC2 nodes."""

from collections.abc import Iterator

from trainshed.plan import BatchPlan, ClusterPlan
from trainshed.review.parts import Behind, Fact, PlannedPart


def job_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what starts the jobs of a cluster."""
    stack = plan.name
    if not isinstance(plan.orchestrator, BatchPlan):
        yield PlannedPart(
            kind="document",
            facts=(Fact(name="job document"), *_job_facts(plan)),
            behind=Behind(stack=stack, types=("AWS::SSM::Document",)),
        )
        yield PlannedPart(
            kind="group",
            facts=(Fact(name="Auto Scaling group"),),
            behind=Behind(stack=stack, types=("AWS::AutoScaling::AutoScalingGroup",)),
        )
        return
    batch = plan.orchestrator
    yield PlannedPart(
        kind="job",
        facts=(
            Fact(name="job definition"),
            Fact(name="container image", value=_image(batch)),
            *_job_facts(plan),
            Fact(name="attempts of a job", value=str(batch.attempts), minor=True),
            Fact(
                name="shared memory of a job",
                value=f"{batch.container.shared_memory_mib} MiB",
                minor=True,
            ),
        ),
        behind=Behind(stack=stack, types=("AWS::Batch::JobDefinition",)),
    )
    yield PlannedPart(
        kind="queue",
        facts=(
            Fact(name="job queue"),
            Fact(name="wait for capacity", value=_capacity_wait(batch), minor=True),
        ),
        behind=Behind(stack=stack, types=("AWS::Batch::JobQueue",)),
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
        behind=Behind(stack=stack, types=("AWS::Batch::ComputeEnvironment",)),
    )


def _capacity_wait(batch: BatchPlan) -> str:
    hours = batch.capacity_wait_hours
    return f"{hours} hours" if hours else "until the Capacity Block begins"


def _job_facts(plan: ClusterPlan) -> Iterator[Fact]:
    limit = f"{plan.orchestrator.timeout_hours} hours"
    yield Fact(name="time limit of a job", value=limit, minor=True)
    # Names only: a value may be one that should not be in a report.
    yield Fact(
        name="variables of a job", value=", ".join(sorted(plan.asked_environment)), minor=True
    )
    grants = (f"{each.access} s3://{each.bucket}/{each.prefix}" for each in plan.job_access.buckets)
    yield Fact(name="buckets of a job", value=", ".join(grants), minor=True)
    yield Fact(name="policies of a job", value=", ".join(plan.job_access.policies), minor=True)


def _image(batch: BatchPlan) -> str:
    image = batch.image
    if not batch.repository:
        return str(image.uri)
    return f"{batch.repository.name}{'@' if image.digest else ':'}{image.tag_or_digest}"
