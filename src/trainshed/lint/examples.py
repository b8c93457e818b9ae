"""What the shortest files of a kind have in common, for the examples of rules."""

from textwrap import dedent

_EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-west-2}
"""
_PARALLELCLUSTER = """\
Region: us-west-2
Image: {Os: alinux2023}
HeadNode: {InstanceType: m5.large}
"""


def eksctl_example(groups: str) -> str:
    """Return an eksctl cluster file with these lists of node groups."""
    return _EKSCTL + dedent(groups).strip()


def parallelcluster_example(sections: str) -> str:
    """Return a configuration of ParallelCluster with these sections."""
    return _PARALLELCLUSTER + dedent(sections).strip()


def slurm_example(resource: str, *queue: str) -> str:
    """Return a configuration of ParallelCluster with one compute resource.

    Args:
        resource: its fields, as the inside of a flow mapping.
        queue: the lines of its queue; by default the queue has a subnet and a placement group.
    """
    default = ("Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: true}}",)
    lines = [f"      {line}" for line in queue or default]
    return "\n".join(
        [
            f"{_PARALLELCLUSTER}Scheduling:",
            "  Scheduler: slurm",
            "  SlurmQueues:",
            "    - Name: train",
            *lines,
            f"      ComputeResources: [{{Name: nodes, {resource}}}]",
        ]
    )
