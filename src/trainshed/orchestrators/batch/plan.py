"""What AWS Batch needs to run the jobs of a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.catalogue.batch import LONGEST_UPDATE_MINUTES
from trainshed.orchestrators.batch.container import plan_container
from trainshed.orchestrators.batch.traits import BatchJobSpec
from trainshed.plan.capacity import CapacityKind, CapacityPlan
from trainshed.plan.container import ContainerPlan
from trainshed.plan.container_image import ImagePlan, plan_image
from trainshed.plan.jobs import PlannedNode
from trainshed.plan.notes import Notes, origin
from trainshed.plan.repository import RepositoryPlan, plan_repository

_LONGEST_UPDATE_HOURS = LONGEST_UPDATE_MINUTES // 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """What AWS Batch needs to run the jobs of a cluster.

    Attributes:
        multi_node: its jobs are multi-node parallel ones; on Spot each has one container.
        image_type: AWS Batch's `imageType`.
        attempts: tries of a job that lost a node.
        timeout_hours: a job that runs longer is ended.
        capacity_wait_hours: a job that waits longer for instances that EC2 lacks is cancelled; None
            with a Capacity Block, for whose start jobs wait, and on Spot unless it is asked for.
        container: what the container of one node gets.
        image: container image of the jobs, of the cluster's own repository or of another.
        repository: the cluster's own ECR repository, or None.
        update_timeout_hours: how long running jobs may go on when the compute environment's
            infrastructure changes; does not matter with a Capacity Block.
    """

    control_plane: ClassVar[None] = None

    multi_node: bool
    image_type: str
    attempts: int
    timeout_hours: int
    capacity_wait_hours: int | None
    container: ContainerPlan
    image: ImagePlan
    repository: RepositoryPlan | None
    update_timeout_hours: int

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of the jobs."""
        return self.container.environment


def plan(notes: Notes, node: PlannedNode) -> BatchPlan:
    """Plan the compute environment and the job definition.

    Args:
        notes: for decisions and problems.
        node: what is planned of each.
    """
    multi_node = node.capacity.kind is not CapacityKind.SPOT
    if multi_node:
        _check_task_slot(notes, node)
    _check_price(notes, node.capacity)
    image_type, why = _image_type(node.instance)
    notes.decide(
        "Batch image type", image_type, f"{why}; nodes boot the AMI of instance.ami instead"
    )
    job = notes.spec.section(BatchJobSpec)
    container = plan_container(notes, job, node)
    image = plan_image(notes)
    if not multi_node:
        notes.decide(
            "jobs",
            "of one container",
            "AWS Batch runs no multi-node jobs on Spot; the container has its node's network",
        )
    _decide_job(notes, job, container)
    return BatchPlan(
        multi_node=multi_node,
        image_type=image_type,
        attempts=job.attempts,
        timeout_hours=job.timeout_hours,
        capacity_wait_hours=_capacity_wait(notes, job, node.capacity),
        container=container,
        image=image,
        repository=plan_repository(notes.spec),
        update_timeout_hours=_update_timeout(notes, job, node.capacity),
    )


def _check_task_slot(notes: Notes, node: PlannedNode) -> None:
    used = sum(row.card == 0 for row in node.interfaces)
    if used >= node.instance.network_cards[0].slots:
        notes.problem(
            "instance.interfaces",
            f"this profile fills all {used} slots of network card 0 of {node.instance.name}, so "
            "that the awsvpc interface of a multi-node parallel job has none; use batch-mnp",
        )


def _check_price(notes: Notes, capacity: CapacityPlan) -> None:
    if capacity.max_price is not None:
        # AWS Batch user guide, "Use Amazon EC2 launch templates": it ignores instance market
        # options. API reference, ComputeResource, bidPercentage: of the price on demand.
        notes.problem(
            "capacity.spot.max_price",
            "is for orchestrator ec2: AWS Batch takes no price, only a percentage of the one on "
            "demand, and its nodes cost at most what they do on demand; leave it out",
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


def _decide_job(notes: Notes, job: BatchJobSpec, container: ContainerPlan) -> None:
    """Note what the job definition says beside its container, and where it comes from."""
    notes.decide(
        "shared memory",
        f"{container.shared_memory_mib} MiB of /dev/shm",
        "as asked" if job.shared_memory_gib else "an eighth of the container's memory",
    )
    # Names only: a value of the file may be one that should not be in a log.
    notes.decide(
        "job environment",
        ", ".join(container.environment) or "none",
        _environment_reason(set(container.environment), set(job.environment)),
    )
    attempts = f"{origin(job, 'attempts')}; a lost node costs one, any other failure ends the job"
    notes.decide("job attempts", job.attempts, attempts)
    notes.decide("job time-out", f"{job.timeout_hours} hours", origin(job, "timeout_hours"))


def _environment_reason(names: set[str], asked: set[str]) -> str:
    if not names:
        return "this type needs none"
    if not asked:
        return "what the accelerator needs"
    return f"as asked: {', '.join(sorted(asked))}" + (
        "; the others are what the accelerator needs" if names - asked else ""
    )


def _capacity_wait(notes: Notes, job: BatchJobSpec, capacity: CapacityPlan) -> int | None:
    if capacity.kind is CapacityKind.CAPACITY_BLOCK or capacity.calendar:
        if "capacity_wait_hours" in job.model_fields_set:
            notes.problem(
                "job.capacity_wait_hours",
                "is for nodes on demand or of a reservation: jobs wait for the start of a Capacity "
                "Block or a window, which may be weeks ahead; leave it out",
            )
        return None
    hours = job.capacity_wait_hours
    if capacity.kind is CapacityKind.SPOT:
        if "capacity_wait_hours" in job.model_fields_set:
            notes.decide("wait for capacity", f"{hours} hours", "as asked")
            return hours
        notes.decide(
            "wait for capacity",
            "as long as it takes",
            "a job that lost its node goes on when EC2 has another; no node is billed meanwhile",
        )
        return None
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
