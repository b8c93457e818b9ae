"""What is known of AWS Batch before anything is planned."""

from pydantic import Field

from trainshed.documents.model import Whole
from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators import Traits
from trainshed.spec.image import ImageSpec
from trainshed.spec.job import ContainerJobSpec

# For messages.
SERVICE = "AWS Batch"


class BatchJobSpec(ContainerJobSpec):
    """Defaults of the job definition."""

    capacity_wait_hours: Whole = Field(default=2, ge=1, le=24)
    """A job that waits longer for instances that EC2 lacks is cancelled by its queue, because those
    that it has got already run, and are billed, without doing anything. Jobs of a Capacity Block
    wait for its start."""


TRAITS = Traits(
    agent="ecs",
    profile=InterfaceProfile.BATCH_MNP,
    profile_reason="the layout made for multi-node jobs of AWS Batch",
    # The awsvpc interface of the container.
    job_interface=True,
    job_addresses=1,
    in_containers=True,
    keeps_nodes=False,
    # Amazon ECS developer guide, "Amazon ECS interface VPC endpoints". Without EC2, a boot goes
    # on after half a minute, without its tag.
    services=("ecr.api", "ecr.dkr", "ecs", "ecs-agent", "ecs-telemetry", "logs", "s3", "ssm"),
    uses_default_group=True,
    control_plane=False,
    sections={"image": ImageSpec, "job": BatchJobSpec},
    fields={"AWS::Batch::ComputeEnvironment": "instance", "AWS::Batch::Job": "job"},
    job_logs="BatchLogs",
    # AWS Batch API reference, ComputeResource, type: "Multi-node parallel jobs aren't supported on
    # Spot Instances". Every job here is one, also of a single node: its job definition is.
    not_on_spot="AWS Batch runs no multi-node jobs on Spot",
    no_calendar=None,
    # AWS Batch user guide, "Compute environment considerations for MNP".
    # AWS Batch API reference, NodeRangeProperty, and user guide, "Node groups".
    one_type="a multi-node job definition of AWS Batch names one instance type, for all of its "
    "nodes",
    spot_order=None,
    without="jobs run in containers",
)
