"""Nodes of AWS Batch that are taken out of service: ECS drains their container instances.

ECS API reference, UpdateContainerInstancesState: "When you set a container instance to DRAINING,
Amazon ECS prevents new tasks from being scheduled for placement on the container instance". That
AWS Batch places a job elsewhere then, and does not wait for this instance, is inferred: its tasks
are ordinary tasks of ECS.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.guard.outputs import stopped
from trainshed.jobs.nodes import Node
from trainshed.orchestrators.batch.container_instances import ContainerInstance, container_instances
from trainshed.orchestrators.batch.queue_environments import (
    Described,
    find_queue,
    queue_environments,
)


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> "BatchNodeControl":
    """Return what takes nodes of a cluster out of service.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
    """
    return BatchNodeControl(region=region, outputs=outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNodeControl:
    """Takes nodes of a queue's compute environments out of service and back.

    Attributes:
        lost_job: what becomes of a job that loses its node.
        region: the cluster's.
        outputs: of its stack.
    """

    lost_job: ClassVar[str] = "AWS Batch tries it again on other nodes, while job.attempts lasts"

    region: Region
    outputs: Mapping[str, str]

    def host(self, node: Node) -> str:
        """Return the ARN of the container instance."""
        found = self._find(node)
        return found.arn if found else ""

    def is_drained(self, node: Node) -> bool:
        """Whether ECS drains it."""
        found = self._find(node)
        return found is not None and found.drains

    def is_joined(self, node: Node) -> bool:
        """Whether ECS reaches its agent."""
        found = self._find(node)
        return found is not None and found.connected

    def drain(self, node: Node) -> None:
        """Have ECS drain it."""
        self._enter(node, "DRAINING")

    def undrain(self, node: Node) -> None:
        """Have ECS place tasks there again."""
        self._enter(node, "ACTIVE")

    def evict(self, node: Node) -> bool:
        """Do nothing: a node that shuts down ends its jobs by SIGTERM."""
        return False

    def why_no_launch(self) -> str | None:
        """Say that the compute environment is disabled, and by whom."""
        for each in self._environments():
            if each.get("state", "ENABLED") != "ENABLED":
                if guard := stopped(self.outputs, datetime.now(UTC)):
                    return f"{guard.reason}; {guard.remedy}"
                name = each["computeEnvironmentName"]
                return (
                    f"compute environment {name} is disabled, as it is when too many nodes fail "
                    "their first boot; put that right, then: aws batch "
                    f"update-compute-environment --compute-environment {name} --state ENABLED"
                )
        return None

    def terminate(self, node: Node) -> None:
        """Terminate it: AWS Batch launches another for the next job, or for instance.nodes.min."""
        self.region.call("ec2", "terminate_instances", InstanceIds=[node.instance_id])

    def _enter(self, node: Node, status: str) -> None:
        found = self._find(node)
        if found is None:
            raise Failure(
                f"{node.instance_id} has not joined ECS, so it takes no jobs yet; wait until it "
                "has, or terminate it: aws ec2 terminate-instances --instance-ids "
                f"{node.instance_id}"
            )
        answer = self.region.call(
            "ecs",
            "update_container_instances_state",
            cluster=found.cluster,
            containerInstances=[found.arn],
            status=status,
        )
        for failure in answer["failures"]:
            raise Failure(f"ECS does not set {node.instance_id} to {status}: {failure['reason']}")

    def _find(self, node: Node) -> ContainerInstance | None:
        found = container_instances(self.region, self._environments())
        return next((each for each in found if each.instance_id == node.instance_id), None)

    def _environments(self) -> tuple[Described, ...]:
        queue = find_queue(self.region, self.outputs["JobQueue"])
        return queue_environments(self.region, queue)
