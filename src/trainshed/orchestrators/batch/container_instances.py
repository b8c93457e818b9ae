"""Nodes of AWS Batch as container instances of ECS."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.aws import Region

# ECS API reference, DescribeContainerInstances: "A list of up to 100".
_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerInstance:
    """A container instance of ECS.

    Attributes:
        cluster: ARN of its ECS cluster.
        arn: of itself.
        instance_id: of its EC2 instance.
        drains: it takes no new tasks.
        connected: ECS reaches its agent.
    """

    cluster: str
    arn: str
    instance_id: str
    drains: bool
    connected: bool


def container_instances(region: Region, cluster: str) -> Iterator[ContainerInstance]:
    """Yield the container instances of an ECS cluster.

    Args:
        region: where it is.
        cluster: its ARN.
    """
    members = list(
        region.pages("ecs", "list_container_instances", "containerInstanceArns", cluster=cluster)
    )
    for start in range(0, len(members), _AT_ONCE):
        some = members[start : start + _AT_ONCE]
        answer = region.call(
            "ecs", "describe_container_instances", cluster=cluster, containerInstances=some
        )
        for each in answer["containerInstances"]:
            yield ContainerInstance(
                cluster=cluster,
                arn=each["containerInstanceArn"],
                instance_id=each["ec2InstanceId"],
                drains=each["status"] == "DRAINING",
                connected=each["agentConnected"],
            )
