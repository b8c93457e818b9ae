"""What the shortest files of a kind have in common, for the examples of rules."""

from textwrap import dedent

from trainshed.lint.model import FileKind

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


def resources_example(resources: str) -> dict[FileKind, str]:
    """Return a CloudFormation template with these resources."""
    return {FileKind.CLOUDFORMATION: "Resources:\n" + resources.strip("\n")}


def eksctl_example(groups: str) -> dict[FileKind, str]:
    """Return an eksctl cluster file with these lists of node groups."""
    return {FileKind.EKSCTL: _EKSCTL + dedent(groups).strip()}


def parallelcluster_example(sections: str) -> dict[FileKind, str]:
    """Return a configuration of ParallelCluster with these sections."""
    return {FileKind.PARALLELCLUSTER: _PARALLELCLUSTER + dedent(sections).strip()}


def slurm_example(resource: str, *queue: str) -> dict[FileKind, str]:
    """Return a configuration of ParallelCluster with one compute resource.

    Args:
        resource: its fields, as the inside of a flow mapping.
        queue: the lines of its queue; by default the queue has a subnet and a placement group.
    """
    default = ("Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: true}}",)
    lines = [f"      {line}" for line in queue or default]
    return parallelcluster_example(
        "\n".join(
            [
                "Scheduling:",
                "  Scheduler: slurm",
                "  SlurmQueues:",
                "    - Name: train",
                *lines,
                f"      ComputeResources: [{{Name: nodes, {resource}}}]",
            ]
        )
    )
