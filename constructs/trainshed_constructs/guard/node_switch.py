"""The calls that stop the nodes of a cluster, and start them again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainshed_constructs.wildcards import own_arn


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSwitch:
    """The calls that stop the nodes of a cluster, and start them again.

    Attributes:
        target: of EventBridge Scheduler: service and action.
        stop: input of the action that stops them. Its names begin with capitals also where the
            API's own do not, or the schedule is refused ("Request payload is missing the following
            field(s)").
        start: input that starts them.
        let_go: service, operation and arguments of boto3 that let idle nodes go: where jobs have
            nodes launched, those that a later job needs come all the same.
        command: of the AWS CLI that starts them.
        action: of IAM that both need.
        resource: ARN that they need it on.
        wildcard: why that has a wildcard; None when it has none.
    """

    target: tuple[str, str]
    stop: Mapping[str, Any]
    start: Mapping[str, Any]
    let_go: tuple[str, str, Mapping[str, Any]]
    command: str
    action: str
    resource: str
    wildcard: str | None = None


def switch_environment(arn: str, *, min_vcpus: int) -> NodeSwitch:
    """Disable a compute environment of AWS Batch, and enable it.

    AWS Batch API reference, UpdateComputeEnvironment: a disabled environment starts no jobs and
    does not scale out; jobs that run go on, and its nodes go when they are idle, down to its
    minimum of vCPUs, which is therefore set to zero.

    Args:
        arn: of the compute environment.
        min_vcpus: its minimum of vCPUs.
    """

    def state(state: str, vcpus: int) -> dict[str, Any]:
        least = {"ComputeResources": {"MinvCpus": vcpus}} if min_vcpus else {}
        return {"ComputeEnvironment": arn, "State": state, **least}

    least = f" --compute-resources minvCpus={min_vcpus}" if min_vcpus else ""
    return NodeSwitch(
        target=("batch", "updateComputeEnvironment"),
        stop=state("DISABLED", 0),
        start=state("ENABLED", min_vcpus),
        let_go=(
            "batch",
            "update_compute_environment",
            {"computeEnvironment": arn, "computeResources": {"minvCpus": 0}},
        ),
        command=f"batch update-compute-environment --compute-environment {arn} --state ENABLED"
        f"{least}",
        action="batch:UpdateComputeEnvironment",
        resource=arn,
    )


def switch_group(group_name: str, *, nodes: int) -> NodeSwitch:
    """Set the size of an Auto Scaling group to zero, and back.

    Args:
        group_name: its name.
        nodes: how many it has.
    """

    def size(count: int) -> dict[str, Any]:
        return {"AutoScalingGroupName": group_name, "MinSize": count, "DesiredCapacity": count}

    return NodeSwitch(
        target=("autoscaling", "updateAutoScalingGroup"),
        stop=size(0),
        start=size(nodes),
        let_go=("autoscaling", "update_auto_scaling_group", size(0)),
        command=f"autoscaling update-auto-scaling-group --auto-scaling-group-name {group_name} "
        f"--min-size {nodes} --desired-capacity {nodes}",
        action="autoscaling:UpdateAutoScalingGroup",
        resource=own_arn("autoscaling", f"autoScalingGroup:*:autoScalingGroupName/{group_name}"),
        wildcard="EC2 Auto Scaling puts an id of its own before the name",
    )


def switch_node_group(
    cluster_name: str, group_name: str, group_arn: str, *, nodes: int
) -> NodeSwitch:
    """Set the size of a managed node group of EKS to zero, and back.

    EKS user guide, "Managed node groups": EKS drains a node before it goes.

    Args:
        cluster_name: of the EKS cluster.
        group_name: of the node group.
        group_arn: of the node group.
        nodes: how many it has.
    """

    def size(count: int) -> dict[str, Any]:
        scaling = {"MinSize": count, "MaxSize": nodes, "DesiredSize": count}
        return {
            "ClusterName": cluster_name,
            "NodegroupName": group_name,
            "ScalingConfig": scaling,
        }

    return NodeSwitch(
        target=("eks", "updateNodegroupConfig"),
        stop=size(0),
        start=size(nodes),
        let_go=(
            "eks",
            "update_nodegroup_config",
            {
                "clusterName": cluster_name,
                "nodegroupName": group_name,
                "scalingConfig": {"minSize": 0, "maxSize": nodes, "desiredSize": 0},
            },
        ),
        command=f"eks update-nodegroup-config --cluster-name {cluster_name} --nodegroup-name "
        f"{group_name} --scaling-config minSize={nodes},maxSize={nodes},desiredSize={nodes}",
        action="eks:UpdateNodegroupConfig",
        resource=group_arn,
    )
