"""What of EC2 Auto Scaling the embedded AWS refuses: moto's know none of its groups."""

from embedded_aws.actions import Answer, Call, Refusal, action


@action(
    "autoscaling",
    "AttachInstances",
    "AttachLoadBalancerTargetGroups",
    "AttachLoadBalancers",
    "BatchDeleteScheduledAction",
    "BatchPutScheduledUpdateGroupAction",
    "DeleteWarmPool",
    "DescribeLoadBalancerTargetGroups",
    "DescribeLoadBalancers",
    "DescribeWarmPool",
    "DetachInstances",
    "DetachLoadBalancerTargetGroups",
    "DetachLoadBalancers",
    "EnterStandby",
    "ExecutePolicy",
    "ExitStandby",
    "PutLifecycleHook",
    "PutScalingPolicy",
    "PutScheduledUpdateGroupAction",
    "PutWarmPool",
)
def refuse(call: Call) -> Answer:
    """Refuse what would have no effect."""
    raise Refusal("UnsupportedOperation", f"The embedded AWS does not support {call.operation}")
