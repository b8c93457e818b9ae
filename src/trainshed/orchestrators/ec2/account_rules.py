"""What only the account knows of a cluster of plain EC2 nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack
from trainshed.findings import Finding, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.preflight.launch import LAUNCH_ACTIONS, Launcher, try_launch
from trainshed.preflight.subject import Subject, accounts

_GROUP = "AWS::AutoScaling::AutoScalingGroup"


@rule(
    "TS-ACC-090",
    over=accounts,
    orchestrators=(Orchestrator.EC2,),
    actions=(*LAUNCH_ACTIONS, "autoscaling:DescribeAutoScalingGroups"),
)
def launch_is_possible(subject: Subject) -> Iterator[Violation | Finding]:
    """The group of EC2 Auto Scaling can launch the nodes."""
    launcher = Launcher(resource_type=_GROUP, deployed=_deployed, subnets=_subnets)
    return try_launch(subject, launcher)


def _deployed(subject: Subject, stack: DeployedStack) -> tuple[str, Mapping[str, Any]] | None:
    found = subject.aws.call(
        "autoscaling",
        "describe_auto_scaling_groups",
        AutoScalingGroupNames=list(stack.ids(_GROUP)),
    )["AutoScalingGroups"]
    return (found[0]["VPCZoneIdentifier"].split(",")[0], {}) if found else None


def _subnets(properties: Mapping[str, Mapping[str, Any]]) -> Any:
    return properties[_GROUP]["VPCZoneIdentifier"]
