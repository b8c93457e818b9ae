"""What is known of plain EC2 nodes before anything is planned."""

from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators import Traits
from trainshed.spec.image import NoImage
from trainshed.spec.job import JobSpec

TRAITS = Traits(
    agent="ec2",
    profile=InterfaceProfile.EC2,
    profile_reason="the EC2 user guide's layout, for nodes whose jobs use the node's own "
    "interfaces",
    job_interface=False,
    job_addresses=0,
    in_containers=False,
    keeps_nodes=True,
    when_stopped="jobs that run end with their nodes",
    when_expired=None,
    # Systems Manager user guide, "Improve the security of EC2 instances by using VPC endpoints";
    # EC2 takes the tag of a boot, CloudFormation its signal.
    services=("cloudformation", "ec2", "ec2messages", "logs", "s3", "ssm", "ssmmessages"),
    uses_default_group=False,
    control_plane=False,
    sections={"image": NoImage, "job": JobSpec},
    fields={"AWS::AutoScaling::": "instance", "AWS::SSM::Document": "job"},
    job_logs="Ec2Logs",
    most_on_spot=None,
    not_on_spot=None,
    one_type=None,
    spot_order=None,
    # EC2 Auto Scaling user guide, "Suspend and resume Amazon EC2 Auto Scaling processes",
    # administrative suspension.
    no_calendar="the nodes of a cluster with orchestrator ec2 are there all the time, and EC2 Auto "
    "Scaling may suspend a group whose launches fail for a day, as they do between windows",
    without="jobs run on the nodes themselves, and once",
)
