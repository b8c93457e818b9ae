"""Its nodes that are taken out of service: by the tag, which submissions look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trainshed.account import scaling_groups
from trainshed.account.tags import DRAINED_TAG
from trainshed.aws import Region
from trainshed.jobs.nodes import Node


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> "ShellNodeControl":
    """Return what takes nodes of a cluster out of service."""
    return ShellNodeControl(region=region, group=outputs["NodeGroup"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellNodeControl:
    """Takes nodes of a group out of service and back."""

    lost_job: ClassVar[str] = "its script ends"

    region: Region
    group: str

    def host(self, node: Node) -> str:
        """Return the instance's id."""
        return node.instance_id

    def is_drained(self, node: Node) -> bool:
        """Whether it has the tag."""
        return node.drained

    def is_joined(self, node: Node) -> bool:
        """Whether Systems Manager knows its agent."""
        found = self.region.pages("ssm", "describe_instance_information", "InstanceInformationList")
        return any(each["InstanceId"] == node.instance_id for each in found)

    def drain(self, node: Node) -> None:
        """Set the tag."""
        tags = [{"Key": DRAINED_TAG, "Value": "yes"}]
        self.region.call("ec2", "create_tags", Resources=[node.instance_id], Tags=tags)

    def undrain(self, node: Node) -> None:
        """Remove the tag."""
        tags = [{"Key": DRAINED_TAG}]
        self.region.call("ec2", "delete_tags", Resources=[node.instance_id], Tags=tags)

    def evict(self, node: Node) -> bool:
        """Do nothing: the script ends with its node."""
        return False

    def why_no_launch(self) -> str | None:
        """Say that launches are suspended."""
        return scaling_groups.why_no_launch(self.region, [self.group])

    def terminate(self, node: Node) -> None:
        """Have the group terminate and replace it."""
        scaling_groups.replace(self.region, node.instance_id)
