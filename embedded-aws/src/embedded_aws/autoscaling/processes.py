"""Suspending what a group does, and resuming it.

User guide, "Suspend and resume Amazon EC2 Auto Scaling processes". Those that act here are Launch,
Terminate, HealthCheck and ReplaceUnhealthy.
"""

from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.autoscaling.convergence import converge
from embedded_aws.autoscaling.group import find, guard
from embedded_aws.autoscaling.refusals import invalid

_PROCESSES = (
    "Launch",
    "Terminate",
    "AddToLoadBalancer",
    "AlarmNotification",
    "AZRebalance",
    "HealthCheck",
    "InstanceRefresh",
    "ReplaceUnhealthy",
    "ScheduledActions",
)


@action("autoscaling", "SuspendProcesses", "ResumeProcesses")
def suspend_or_resume_processes(call: Call) -> dict[str, Any]:
    """Suspend or resume some processes of a group, or all."""
    named = call.params.get("ScalingProcesses") or _PROCESSES
    if unknown := sorted(set(named).difference(_PROCESSES)):
        raise invalid(f"{unknown[0]} is not a valid process type")
    with guard:
        group = find(call, call.params["AutoScalingGroupName"])
        others = [name for name in group.suspended if name not in named]
        group.suspended = [*others, *named] if call.operation == "SuspendProcesses" else others
        converge(group)
    return {}


@action("autoscaling", "DescribeScalingProcessTypes")
def describe_scaling_process_types(call: Call) -> dict[str, Any]:
    """List the processes."""
    return {"Processes": [{"ProcessName": name} for name in sorted(_PROCESSES)]}
