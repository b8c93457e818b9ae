"""Plain EC2 nodes that are taken out of service: by a tag, which submissions look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trainshed.account import scaling_groups
from trainshed.account.tags import DRAINED_TAG
from trainshed.aws import Region
from trainshed.jobs.nodes import Node
from trainshed.orchestrators.ec2.agents import answering


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> "Ec2NodeControl":
    """Return what takes nodes of a cluster out of service.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
    """
    return Ec2NodeControl(region=region, group=outputs["NodeGroup"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ec2NodeControl:
    """Takes nodes of an Auto Scaling group out of service and back.

    Attributes:
        lost_job: what becomes of a job that loses its node.
        region: the cluster's.
        group: name of the Auto Scaling group.
    """

    lost_job: ClassVar[str] = "it fails; submit it again: trainshed job again JOB"

    region: Region
    group: str

    def host(self, node: Node) -> str:
        """Return the instance's id."""
        return node.instance_id

    def is_drained(self, node: Node) -> bool:
        """Whether it has the tag."""
        return node.drained

    def is_joined(self, node: Node) -> bool:
        """Whether Systems Manager reaches its agent."""
        return node.instance_id in answering(self.region)

    def drain(self, node: Node) -> None:
        """Set the tag."""
        tags = [{"Key": DRAINED_TAG, "Value": "yes"}]
        self.region.call("ec2", "create_tags", Resources=[node.instance_id], Tags=tags)

    def undrain(self, node: Node) -> None:
        """Remove the tag."""
        tags = [{"Key": DRAINED_TAG}]
        self.region.call("ec2", "delete_tags", Resources=[node.instance_id], Tags=tags)

    def evict(self, node: Node) -> bool:
        """Do nothing: a node that shuts down ends its jobs by SIGTERM."""
        return False

    def why_no_launch(self) -> str | None:
        """Say that launches are suspended."""
        return scaling_groups.why_no_launch(self.region, [self.group])

    def terminate(self, node: Node) -> None:
        """Have the group terminate and replace it."""
        scaling_groups.replace(self.region, node.instance_id)
