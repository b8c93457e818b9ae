"""What a change does to plain EC2 nodes, and to the jobs on them."""

from collections.abc import Iterator

from trainshed.review.model import Level, Risk
from trainshed.review.risks.affected import Affected, at, whole_number
from trainshed.review.risks.jobs_killed import killed
from trainshed.review.risks.node_updates import new_nodes

LAUNCHES_NODES = "AWS::AutoScaling::AutoScalingGroup"
RUNS_JOBS = {
    LAUNCHES_NODES: (
        "the Auto Scaling group",
        "its nodes are terminated, and the jobs on them end",
    ),
}
_OF_NEW_NODES = (
    "LaunchConfigurationName",
    "LaunchTemplate",
    "MixedInstancesPolicy",
    "MixedInstancesPolicy",
    "PlacementGroup",
    "VPCZoneIdentifier",
)


def changed(affected: Affected) -> Iterator[Risk]:
    """Yield what terminates nodes."""
    before, after = (whole_number(at(side, "MaxSize")) for side in (affected.old, affected.new))
    if before is not None and after is not None and after < before:
        newest = "NewestInstance" in (at(affected.new, "TerminationPolicies") or ())
        yield killed(
            affected,
            Level.HIGH,
            f"the Auto Scaling group gets {after} nodes instead of {before}: the "
            f"{'newest' if newest else 'others'} are terminated, and the jobs on them end",
            "ask whether jobs run on them (trainshed job list)",
        )
    # Without such a policy, as in our own clusters, the change is for nodes that are launched
    # later (docs/plain-ec2.md).
    replacing = {"AutoScalingRollingUpdate", "AutoScalingReplacingUpdate"}
    reasons = new_nodes(affected, _OF_NEW_NODES)
    if reasons and replacing & affected.new.get("UpdatePolicy", {}).keys():
        yield killed(
            affected,
            Level.HIGH,
            f"the UpdatePolicy of the Auto Scaling group replaces the nodes, because of "
            f"{', '.join(reasons)}: the jobs on them end",
        )
