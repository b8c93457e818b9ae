"""What a change does to the nodes and jobs of a cluster of Amazon EKS."""

from collections.abc import Iterator

from trainshed.review.model import Level, Risk
from trainshed.review.risks.affected import Affected, at, whole_number
from trainshed.review.risks.jobs_killed import killed
from trainshed.review.risks.node_updates import new_nodes

LAUNCHES_NODES = "AWS::EKS::Nodegroup"
_CLUSTER = "AWS::EKS::Cluster"
RUNS_JOBS = {
    LAUNCHES_NODES: (
        "the node group",
        "its nodes are terminated, and the pods of jobs on them end",
    ),
    _CLUSTER: ("the control plane", "its jobs and all else in it are gone"),
}
# EKS user guide, "Update a managed node group for your cluster".
_OF_NEW_NODES = ("LaunchTemplate", "ReleaseVersion", "Version")


def changed(affected: Affected) -> Iterator[Risk]:
    """Yield what ends nodes of jobs; a new version of the control plane ends none."""
    if affected.change.resource_type == _CLUSTER:
        return
    # System nodes, which jobs never run on, have no taint.
    if not at(affected.old, "Taints"):
        return
    before, after = (
        whole_number(at(side, "ScalingConfig.DesiredSize")) for side in (affected.old, affected.new)
    )
    if before is not None and after is not None and after < before:
        yield killed(
            affected,
            Level.HIGH,
            f"the node group gets {after} nodes instead of {before}: EC2 Auto Scaling chooses "
            "those that go, and the pods on them end",
            "ask whether jobs run (trainshed job list)",
        )
    if reasons := new_nodes(affected, _OF_NEW_NODES):
        yield killed(
            affected,
            Level.HIGH,
            f"the node group replaces its nodes one after another, because of "
            f"{', '.join(reasons)}: the pods on them end",
        )
