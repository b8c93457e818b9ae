"""What is known of it before anything is planned."""

from pydantic import Field

from trainshed.documents.model import Model, Whole
from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators import Traits
from trainshed.spec.image import NoImage
from trainshed.spec.job import JobSpec


class ShellSpec(Model):
    """What its clusters have of their own."""

    most_nodes: Whole = Field(default=50, ge=1, le=50)
    """Nodes of the largest command."""


TRAITS = Traits(
    agent="ec2",
    profile=InterfaceProfile.EC2,
    profile_reason="jobs use the node's own interfaces",
    job_interface=False,
    job_addresses=0,
    in_containers=False,
    keeps_nodes=True,
    when_stopped="jobs that run end with their nodes",
    when_expired=None,
    services=("ec2messages", "logs", "s3", "ssm", "ssmmessages"),
    uses_default_group=False,
    control_plane=False,
    sections={"image": NoImage, "job": JobSpec, "shell": ShellSpec},
    fields={"AWS::AutoScaling::": "instance"},
    job_logs="ShellLogs",
    most_on_spot=0,
    not_on_spot="nodes that are kept are not on Spot, where EC2 may take them back",
    no_calendar="nodes that are kept have no windows",
    one_type="nodes that are kept are of one type",
    spot_order=None,
    without="jobs are shell scripts",
)
