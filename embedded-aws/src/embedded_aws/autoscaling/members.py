"""What users ask and say of single instances of groups.

API reference; an instance that is terminated in its group is replaced, unless the desired capacity
is decremented with it. Inferred: the words of refusals.
"""

from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.autoscaling.activities import at_this_time
from embedded_aws.autoscaling.convergence import converge, end, record_end
from embedded_aws.autoscaling.group import Group, Member, changeable, find, groups, guard
from embedded_aws.autoscaling.pages import page
from embedded_aws.autoscaling.refusals import invalid


@action("autoscaling", "DescribeAutoScalingInstances")
def describe_auto_scaling_instances(call: Call) -> dict[str, Any]:
    """Describe instances by id, or all of all groups; unknown ids are left out."""
    ids = call.params.get("InstanceIds")
    with guard:
        found = [
            group.shown(member)
            for group in groups(call).values()
            for member in group.members
            if not ids or member.instance_id in ids
        ]
    return page(call, "AutoScalingInstances", found, usual=50, most=50)


@action("autoscaling", "SetInstanceHealth")
def set_instance_health(call: Call) -> dict[str, Any]:
    """Say of an instance that it is healthy, or not and to be replaced."""
    status = call.params["HealthStatus"]
    if status not in ("Healthy", "Unhealthy"):
        raise invalid("Valid instance health states are: [Healthy, Unhealthy]")
    with guard:
        group, member = _owned(call, call.params["InstanceId"])
        member.unhealthy = status == "Unhealthy"
        converge(group)
    return {}


@action("autoscaling", "SetInstanceProtection")
def set_instance_protection(call: Call) -> dict[str, Any]:
    """Protect instances from scale-in, or no longer."""
    with guard:
        group = find(call, call.params["AutoScalingGroupName"])
        named = {member.instance_id: member for member in group.members}
        for instance_id in call.params["InstanceIds"]:
            if instance_id not in named:
                raise invalid(
                    f"The instance {instance_id} is not part of Auto Scaling group {group.name}."
                )
        for instance_id in call.params["InstanceIds"]:
            named[instance_id].protected = call.params["ProtectedFromScaleIn"]
        converge(group)
    return {}


@action("autoscaling", "TerminateInstanceInAutoScalingGroup")
def terminate_instance_in_auto_scaling_group(call: Call) -> dict[str, Any]:
    """End an instance; another one takes its place unless the capacity shrinks by one."""
    if "InstanceId" not in call.params:
        raise invalid("The embedded AWS terminates one instance at a time: name an InstanceId")
    with guard:
        group, member = _owned(call, call.params["InstanceId"])
        cause = (
            f"instance {member.instance_id} was taken out of service in response to a user request"
        )
        if call.params["ShouldDecrementDesiredCapacity"]:
            smaller = group.desired - 1
            if smaller < group.fields["MinSize"]:
                raise invalid(
                    "Currently, desiredSize equals minSize "
                    f"({group.desired}). Terminating instance without replacement will violate "
                    "group's min size constraint. Either set shouldDecrementDesiredCapacity flag "
                    "to false or lower group's min size."
                )
            cause += f", shrinking the capacity from {group.desired} to {smaller}"
            group.fields = {**group.fields, "DesiredCapacity": smaller}
        activity = record_end(group, member, at_this_time(f"{cause}."))
        end(group, [member])
        converge(group)
    return {"Activity": {**activity, "StatusCode": "InProgress", "Progress": 0}}


def _owned(call: Call, instance_id: str) -> tuple[Group, Member]:
    """Return an instance and its group.

    Raises:
        Refusal: it is in no group, or in one of AWS Batch.
    """
    for group in groups(call).values():
        for member in group.members:
            if member.instance_id == instance_id:
                return changeable(group), member
    raise invalid(
        f"Instance Id not found - No managed instance found for instance ID: {instance_id}"
    )
