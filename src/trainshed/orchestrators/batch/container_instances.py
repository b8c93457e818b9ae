"""Nodes of AWS Batch as container instances of ECS."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainshed.aws import Region
from trainshed.orchestrators.batch.former import with_former
from trainshed.orchestrators.batch.queue_environments import Described

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


def container_instances(
    region: Region, environments: Iterable[Described]
) -> Iterator[ContainerInstance]:
    """Yield the container instances of environments, and of those that their cluster had before.

    Args:
        region: where they are.
        environments: those of the cluster's queue.
    """
    arns = [each["computeEnvironmentArn"] for each in environments]
    for each in with_former(region, *arns):
        # One that is deleted has no nodes, and its ECS cluster may be gone.
        if each.get("ecsClusterArn") and each.get("status") not in ("DELETING", "DELETED"):
            yield from _of_ecs_cluster(region, each["ecsClusterArn"])


def _of_ecs_cluster(region: Region, cluster: str) -> Iterator[ContainerInstance]:
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
