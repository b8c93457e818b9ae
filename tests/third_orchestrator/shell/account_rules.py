"""What only the account knows of its clusters."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack
from trainshed.findings import Finding, Violation, rule
from trainshed.preflight.launch import LAUNCH_ACTIONS, Launcher, try_launch
from trainshed.preflight.subject import Subject, accounts

_GROUP = "AWS::AutoScaling::AutoScalingGroup"


@rule(
    "TS-ACC-090",
    over=accounts,
    orchestrators=("shell",),
    actions=(*LAUNCH_ACTIONS, "autoscaling:DescribeAutoScalingGroups"),
)
def launch_is_possible(subject: Subject) -> Iterator[Violation | Finding]:
    """The group can launch the nodes."""
    launcher = Launcher(resource_type=_GROUP, deployed=_deployed, subnets=_subnets)
    return try_launch(subject, launcher)


def _deployed(subject: Subject, stack: DeployedStack) -> tuple[str, Mapping[str, Any]]:
    [group] = subject.aws.call(
        "autoscaling",
        "describe_auto_scaling_groups",
        AutoScalingGroupNames=list(stack.ids(_GROUP)),
    )["AutoScalingGroups"]
    return group["VPCZoneIdentifier"], {}


def _subnets(properties: Mapping[str, Mapping[str, Any]]) -> Any:
    return properties[_GROUP]["VPCZoneIdentifier"]
