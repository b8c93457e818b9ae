"""The managed node group of a cluster's nodes, as EKS has it."""

from dataclasses import dataclass

from trainshed.aws import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupIssue:
    """What is wrong with a managed node group.

    Attributes:
        code: for instance AsgInstanceLaunchFailures.
        message: what EKS says, which quotes EC2.
    """

    code: str
    message: str

    def __str__(self) -> str:
        """Return both."""
        return f"EKS says of the node group: {self.code}: {self.message.rstrip('.')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedNodeGroup:
    """A managed node group.

    Attributes:
        most_nodes: how many nodes it may have.
        wanted_nodes: how many it wants to be there now.
        issues: what is wrong with it.
        scaling_groups: names of its Auto Scaling groups.
    """

    most_nodes: int
    wanted_nodes: int
    issues: tuple[NodeGroupIssue, ...]
    scaling_groups: tuple[str, ...] = ()


def find_node_group(region: Region, cluster: str, name: str) -> ManagedNodeGroup:
    """Return a node group.

    Args:
        region: that it is in.
        cluster: name of its cluster, as EKS has it.
        name: of the group.

    Raises:
        Failure: AWS refuses.
    """
    answer = region.call("eks", "describe_nodegroup", clusterName=cluster, nodegroupName=name)
    found = answer["nodegroup"]
    return ManagedNodeGroup(
        most_nodes=found["scalingConfig"]["maxSize"],
        wanted_nodes=found["scalingConfig"]["desiredSize"],
        issues=tuple(
            NodeGroupIssue(code=each["code"], message=each["message"])
            for each in found.get("health", {}).get("issues", ())
        ),
        scaling_groups=tuple(
            each["name"] for each in found.get("resources", {}).get("autoScalingGroups", ())
        ),
    )
