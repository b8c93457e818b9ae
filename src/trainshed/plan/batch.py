"""What AWS Batch needs to run the jobs of a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.interfaces import NetworkInterface
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.traits import BatchJobSpec
from trainshed.plan.capacity import CapacityKind, CapacityPlan
from trainshed.plan.container import ContainerPlan, plan_container
from trainshed.plan.container_image import ImagePlan, plan_image
from trainshed.plan.job import decide_job
from trainshed.plan.notes import Notes, origin
from trainshed.plan.repository import RepositoryPlan, plan_repository

# AWS Batch, UpdatePolicy: the longest time that a job may go on during an infrastructure update.
LONGEST_UPDATE_MINUTES = 7200
_LONGEST_UPDATE_HOURS = LONGEST_UPDATE_MINUTES // 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """What AWS Batch needs to run the jobs of a cluster.

    Attributes:
        image_type: AWS Batch's `imageType`.
        attempts: tries of a job that lost a node.
        timeout_hours: a job that runs longer is ended.
        capacity_wait_hours: a job that waits longer for instances that EC2 lacks is cancelled; None
            with a Capacity Block, for whose start jobs wait.
        container: what the container of one node gets.
        image: container image of the jobs, of the cluster's own repository or of another.
        repository: the cluster's own ECR repository, or None.
        update_timeout_hours: how long running jobs may go on when the compute environment's
            infrastructure changes; does not matter with a Capacity Block.
    """

    kind: ClassVar[Orchestrator] = Orchestrator.BATCH

    image_type: str
    attempts: int
    timeout_hours: int
    capacity_wait_hours: int | None
    container: ContainerPlan
    image: ImagePlan
    repository: RepositoryPlan | None
    update_timeout_hours: int


def plan_batch(
    notes: Notes,
    instance: InstanceType,
    interfaces: tuple[NetworkInterface, ...],
    devices: Mapping[str, int],
    capacity: CapacityPlan,
    folders: Mapping[str, str],
) -> BatchPlan:
    """Plan the compute environment and the job definition.

    Args:
        notes: for decisions and problems.
        instance: facts of the nodes' type.
        interfaces: of one node.
        devices: how many of each kind a node has.
        capacity: how nodes are bought.
        folders: of a node that its container sees, by the volume's name.
    """
    _check_task_slot(notes, instance, interfaces)
    image_type, why = _image_type(instance)
    notes.decide(
        "Batch image type", image_type, f"{why}; nodes boot the AMI of instance.ami instead"
    )
    job = notes.spec.job
    assert isinstance(job, BatchJobSpec)
    container = plan_container(notes, job, instance, devices, folders)
    image = plan_image(notes)
    decide_job(notes, job, container)
    return BatchPlan(
        image_type=image_type,
        attempts=job.attempts,
        timeout_hours=job.timeout_hours,
        capacity_wait_hours=_capacity_wait(notes, job, capacity),
        container=container,
        image=image,
        repository=plan_repository(notes.spec),
        update_timeout_hours=_update_timeout(notes, job, capacity),
    )


def _check_task_slot(
    notes: Notes, instance: InstanceType, interfaces: tuple[NetworkInterface, ...]
) -> None:
    used = sum(row.card == 0 for row in interfaces)
    if used >= instance.network_cards[0].slots:
        notes.problem(
            "instance.interfaces",
            f"this profile fills all {used} slots of network card 0 of {instance.name}, so that "
            "the awsvpc interface of a multi-node parallel job has none; use batch-mnp",
        )


def _image_type(instance: InstanceType) -> tuple[str, str]:
    """Return AWS Batch's `imageType`, and why."""
    # There is no Neuron or Gaudi type, and ECS_AL2023_NVIDIA does not take V100 (AWS Batch user
    # guide, compute resource AMIs): those use the plain one with an AMI of their own.
    accelerator = instance.accelerator
    if accelerator.family is not AcceleratorFamily.NVIDIA:
        return "ECS_AL2023", f"AWS Batch has no type for {accelerator.family}"
    if accelerator.name == "V100":
        return "ECS_AL2023", "AWS Batch's type for NVIDIA GPUs does not take V100"
    return "ECS_AL2023_NVIDIA", "AWS Batch's type for NVIDIA GPUs"


def _capacity_wait(notes: Notes, job: BatchJobSpec, capacity: CapacityPlan) -> int | None:
    if capacity.kind is CapacityKind.CAPACITY_BLOCK:
        if "capacity_wait_hours" in job.model_fields_set:
            notes.problem(
                "job.capacity_wait_hours",
                "is for nodes on demand or of a reservation: jobs wait for the start of a Capacity "
                "Block, which may be weeks ahead; leave it out",
            )
        return None
    hours = job.capacity_wait_hours
    notes.decide(
        "wait for capacity",
        f"{hours} hours",
        f"{origin(job, 'capacity_wait_hours')}; the nodes that a job has got are billed while it "
        "waits for the others",
    )
    return hours


def _update_timeout(notes: Notes, job: BatchJobSpec, capacity: CapacityPlan) -> int:
    if capacity.kind is CapacityKind.CAPACITY_BLOCK:
        notes.decide(
            "updates",
            "by another environment",
            "AWS's own templates use BEST_FIT for Capacity Blocks, which AWS Batch cannot update: "
            "a change of the nodes (AMI, disk, interfaces, type) ends the jobs that run; they are "
            "tried again on the new nodes while job.attempts allows it",
        )
        return _LONGEST_UPDATE_HOURS
    hours = min(job.timeout_hours, _LONGEST_UPDATE_HOURS)
    reason = "as long as a job may run"
    if job.timeout_hours > hours:
        reason = "the longest that AWS Batch takes, though jobs may run longer"
    notes.decide("update time-out", f"{hours} hours", reason)
    return hours
