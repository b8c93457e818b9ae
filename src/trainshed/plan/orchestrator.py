"""What differs between orchestrators before the jobs of any are planned."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.interfaces import InterfaceProfile
from trainshed.spec import Orchestrator


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorTraits:
    """What an orchestrator wants of the nodes.

    Attributes:
        ami: second part of the cell of its AMIs, for instance `ecs`.
        profile: layout of the interfaces that is made for it.
        profile_reason: why.
        job_addresses: private addresses that a job takes on each node, beside the node's own.
        services: what a node cannot do without, by the names of the services' endpoints.
    """

    ami: str
    profile: InterfaceProfile
    profile_reason: str
    job_addresses: int
    services: tuple[str, ...]


TRAITS: Mapping[Orchestrator, OrchestratorTraits] = {
    Orchestrator.BATCH: OrchestratorTraits(
        ami="ecs",
        profile=InterfaceProfile.BATCH_MNP,
        profile_reason="the layout made for multi-node jobs of AWS Batch",
        # The awsvpc interface of the container.
        job_addresses=1,
        # Amazon ECS developer guide, "Amazon ECS interface VPC endpoints". Without EC2, a boot goes
        # on after half a minute, without its tag.
        services=("ecr.api", "ecr.dkr", "ecs", "ecs-agent", "ecs-telemetry", "logs", "s3", "ssm"),
    ),
    Orchestrator.EC2: OrchestratorTraits(
        ami="ec2",
        profile=InterfaceProfile.EC2,
        profile_reason="the EC2 user guide's layout, for nodes whose jobs use the node's own "
        "interfaces",
        job_addresses=0,
        # Systems Manager user guide, "Improve the security of EC2 instances by using VPC
        # endpoints"; EC2 takes the tag of a boot, CloudFormation its signal.
        services=("cloudformation", "ec2", "ec2messages", "logs", "s3", "ssm", "ssmmessages"),
    ),
}
