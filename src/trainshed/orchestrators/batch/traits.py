"""What is known of AWS Batch before anything is planned."""

from dataclasses import replace

from pydantic import Field

from trainshed.documents.model import Whole
from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators import Traits
from trainshed.spec.image import ImageSpec
from trainshed.spec.job import ContainerJobSpec

# For messages.
SERVICE = "AWS Batch"
# Output of the stack of a cluster whose jobs are no multi-node ones: the type of its job
# definition, as AWS Batch calls it.
JOB_TYPE_OUTPUT, SINGLE_NODE = "JobType", "container"


class BatchJobSpec(ContainerJobSpec):
    """Defaults of the job definition."""

    capacity_wait_hours: Whole = Field(default=2, ge=1, le=24)
    """A job that waits longer for instances that EC2 lacks is cancelled by its queue, because those
    that it has got already run, and are billed, without doing anything. Jobs of a Capacity Block
    wait for its start; jobs on Spot, which have one node, by default as long as it takes."""


TRAITS = Traits(
    agent="ecs",
    profile=InterfaceProfile.BATCH_MNP,
    profile_reason="the layout made for multi-node jobs of AWS Batch",
    # The awsvpc interface of the container.
    job_interface=True,
    job_addresses=1,
    in_containers=True,
    keeps_nodes=False,
    when_stopped="jobs that run go on to their end, and others wait",
    when_expired="jobs that run are ended, and others wait",
    # Amazon ECS developer guide, "Amazon ECS interface VPC endpoints". Without EC2, a boot goes
    # on after half a minute, without its tag.
    services=("ecr.api", "ecr.dkr", "ecs", "ecs-agent", "ecs-telemetry", "logs", "s3", "ssm"),
    uses_default_group=True,
    control_plane=False,
    sections={"image": ImageSpec, "job": BatchJobSpec},
    fields={"AWS::Batch::ComputeEnvironment": "instance", "AWS::Batch::Job": "job"},
    job_logs="BatchLogs",
    # AWS Batch API reference, ComputeResource, type: "Multi-node parallel jobs aren't supported on
    # Spot Instances".
    most_on_spot=1,
    not_on_spot="AWS Batch runs no multi-node jobs on Spot",
    no_calendar=None,
    # AWS Batch API reference, NodeRangeProperty, and user guide, "Node groups".
    one_type="a multi-node job definition of AWS Batch names one instance type, for all of its "
    "nodes",
    spot_order=None,
    without="jobs run in containers",
)

# Of clusters on Spot: their jobs have one container, and not that of a multi-node job. AWS Batch
# user guide, "Networking modes for AWS Batch jobs": it uses the network of its node.
SPOT_TRAITS = replace(
    TRAITS,
    profile=InterfaceProfile.EC2,
    profile_reason="the EC2 user guide's layout, for jobs that use the node's own interfaces",
    job_interface=False,
    job_addresses=0,
    uses_default_group=False,
    # It asks for vCPUs, memory and GPUs, which several types have.
    one_type=None,
)
