"""What only the account knows of a cluster of Amazon EKS."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack
from trainshed.findings import Finding, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.preflight.launch import LAUNCH_ACTIONS, Launcher, try_launch
from trainshed.preflight.subject import Subject, accounts

_GROUP = "AWS::EKS::Nodegroup"


@rule(
    "TS-ACC-090",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    actions=(*LAUNCH_ACTIONS, "eks:DescribeNodegroup"),
)
def launch_is_possible(subject: Subject) -> Iterator[Violation | Finding]:
    """The managed node group can launch the nodes."""
    launcher = Launcher(resource_type=_GROUP, deployed=_deployed, subnets=_subnets)
    return try_launch(subject, launcher)


def _deployed(subject: Subject, stack: DeployedStack) -> tuple[str, Mapping[str, Any]] | None:
    [group_id] = stack.ids(_GROUP)
    cluster, _, group = group_id.partition("/")
    found = subject.aws.call("eks", "describe_nodegroup", clusterName=cluster, nodegroupName=group)
    return found["nodegroup"]["subnets"][0], {}


def _subnets(properties: Mapping[str, Mapping[str, Any]]) -> Any:
    return properties[_GROUP]["Subnets"]
