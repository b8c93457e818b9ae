"""A limit on how often nodes whose first boot fails are replaced."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.wildcards import own_arn

_PATTERN = {
    "source": ["aws.ec2"],
    "detail-type": ["EC2 Instance State-change Notification"],
    "detail": {"state": ["stopped", "terminated"]},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLaunches:
    """How no more nodes are launched.

    Attributes:
        call: service, operation and arguments of boto3.
        done: what that does, in words.
        undo: arguments of the AWS CLI that undo it.
        action: of IAM that the call needs.
        resource: ARN that it needs it on.
        wildcard: why that has a wildcard; None when it has none.
        conditions: on which the function may make the call; by default none.
    """

    call: tuple[str, str, Mapping[str, Any]]
    done: str
    undo: str
    action: str
    resource: str
    wildcard: str | None = None
    conditions: Mapping[str, Any] | None = None


def disable_environment(arn: str, *, min_vcpus: int) -> StopLaunches:
    """Disable a compute environment of AWS Batch.

    AWS Batch API reference, UpdateComputeEnvironment: a disabled environment does not scale out,
    but keeps its minimum of vCPUs, and goes on to replace those; so that is set to zero.

    Args:
        arn: of the compute environment.
        min_vcpus: its minimum of vCPUs.
    """
    none = {"computeResources": {"minvCpus": 0}} if min_vcpus else {}
    back = f" --compute-resources minvCpus={min_vcpus}" if min_vcpus else ""
    return StopLaunches(
        call=(
            "batch",
            "update_compute_environment",
            {"computeEnvironment": arn, "state": "DISABLED", **none},
        ),
        done=f"disabled {arn}",
        undo=f"batch update-compute-environment --compute-environment {arn} --state ENABLED{back}",
        action="batch:UpdateComputeEnvironment",
        resource=arn,
    )


def suspend_launches(group_name: str) -> StopLaunches:
    """Suspend the process Launch of an Auto Scaling group.

    EC2 Auto Scaling user guide, "Suspend and resume processes".

    Args:
        group_name: name of the group.
    """
    return StopLaunches(
        call=(
            "autoscaling",
            "suspend_processes",
            {"AutoScalingGroupName": group_name, "ScalingProcesses": ["Launch"]},
        ),
        done=f"suspended the launches of {group_name}",
        undo="autoscaling resume-processes --scaling-processes Launch --auto-scaling-group-name "
        f"{group_name}",
        action="autoscaling:SuspendProcesses",
        resource=own_arn("autoscaling", f"autoScalingGroup:*:autoScalingGroupName/{group_name}"),
        wildcard="EC2 Auto Scaling puts an id of its own before the name",
    )


def suspend_node_group(cluster_name: str) -> StopLaunches:
    """Suspend the process Launch of the Auto Scaling group of a managed node group of EKS.

    EKS names the group when it makes it, so the function finds the name at the node. That EKS does
    not resume it by itself is inferred: its guide names no process that it needs.

    Args:
        cluster_name: of the EKS cluster.
    """
    return StopLaunches(
        call=(
            "autoscaling",
            "suspend_processes",
            {"AutoScalingGroupName": "$GROUP", "ScalingProcesses": ["Launch"]},
        ),
        done="suspended the launches of the node group",
        undo="autoscaling resume-processes --scaling-processes Launch --auto-scaling-group-name "
        "$GROUP",
        action="autoscaling:SuspendProcesses",
        resource=own_arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/eks-*"),
        wildcard="EKS names the group; the condition admits those of this cluster only",
        conditions={"StringEquals": {"aws:ResourceTag/eks:cluster-name": cluster_name}},
    )


class FailedBootLimit(Construct):
    """Launches no more nodes when too many power themselves off.

    A node whose first boot fails powers off and is replaced: forever, when the AMI or the file
    system is broken. A function sees each instance end, knows by EC2's `StateReason`
    (`Client.InstanceInitiatedShutdown`) which powered themselves off, and by the tag
    `trainshed:boot` which of them had booted well: those were marked unfit by jobs, and do not
    count. At `limit` of the others in `hours` it stops the launches: jobs that run go on, and no
    node is launched any more. Its log has what the nodes said on their consoles, and the command
    that has nodes launched again; the metric `NodesPoweredOff` (namespace `trainshed/boots`,
    dimension `Cluster`) counts the nodes. The nodes themselves need no permissions for that, and
    their AMI no program.

    Follows the EC2 user guide, "State change events for your instances".

    Attributes:
        function: the function; its log says what happened.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import FailedBootLimit, suspend_launches

        stack = Stack(App(), "Compute")
        FailedBootLimit(
            stack,
            "FailedBoots",
            cluster="TrainCluster",
            stop=suspend_launches("nodes"),
            limit=3,
            hours=3,
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        stop: StopLaunches,
        limit: int,
        hours: int,
    ) -> None:
        """Declare the function and the rule that calls it.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: value of the tag `trainshed:cluster` on the nodes.
            stop: how no more nodes are launched.
            limit: at how many nodes that powered themselves off that is done.
            hours: in how many hours they are counted.
        """
        super().__init__(scope, construct_id)
        self.function = inline_function(
            self,
            name="failed_boot_limit",
            description="Launches no more nodes when they keep powering themselves off",
            statements=[
                *_statements(cluster),
                iam.PolicyStatement(
                    sid="Stop",
                    actions=[stop.action],
                    resources=[stop.resource],
                    conditions=stop.conditions,
                ),
            ],
            wildcards={
                "*": "these actions take no resource (Service Authorization Reference)",
                own_arn("ec2", "instance/*"): "the instances are launched later; the condition "
                "admits those of this cluster only",
                **({stop.resource: stop.wildcard} if stop.wildcard else {}),
            },
            timeout=minutes(1),
            environment={
                "CLUSTER": cluster,
                "HOURS": str(hours),
                "LIMIT": str(limit),
                "STOP": json.dumps(stop.call),
                "STOPPED": stop.done,
                "UNDO": stop.undo,
            },
        )
        # L1: the L2 targets come in one module that loads every service which can be one.
        rule = events.CfnRule(
            self,
            "Ended",
            description="An instance was stopped or terminated",
            event_pattern=_PATTERN,
            targets=[events.CfnRule.TargetProperty(id="Function", arn=self.function.function_arn)],
        )
        lambda_.CfnPermission(
            self,
            "LetEventBridgeIn",
            action="lambda:InvokeFunction",
            function_name=self.function.function_name,
            principal="events.amazonaws.com",
            source_arn=rule.attr_arn,
        )


def _statements(cluster: str) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(
            sid="FindOutWhy",
            actions=["cloudwatch:GetMetricStatistics", "ec2:DescribeInstances"],
            resources=["*"],
        ),
        iam.PolicyStatement(
            sid="Count",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": "trainshed/boots"}},
        ),
        iam.PolicyStatement(
            sid="ReadConsoles",
            actions=["ec2:GetConsoleOutput"],
            resources=[own_arn("ec2", "instance/*")],
            conditions={"StringEquals": {"aws:ResourceTag/trainshed:cluster": cluster}},
        ),
    ]
