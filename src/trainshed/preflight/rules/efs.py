"""Whether the EFS file system that the cluster names can be used."""

from collections.abc import Iterator
from typing import Any

from trainshed.account.deployed_stacks import find_stack
from trainshed.aws import accepting
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import EfsPlan
from trainshed.preflight.subject import Subject, accounts

# EFS API reference, "FileSystemDescription": the second is under a change that its owner asked for.
_MOUNTABLE = ("available", "updating")


@rule(
    "TS-ACC-064",
    over=accounts,
    title="The existing EFS file system cannot be mounted by the nodes",
    when="storage.efs.existing names a file system",
    why="""
Nodes mount it at boot, through a mount target in their zone. All of its mount targets are in one
VPC: one for nodes of another VPC cannot be made, and the deployment fails.
""",
    actions=(
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeMountTargets",
    ),
    sources=("https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html",),
    severity=Severity.ERROR,
)
def efs_is_usable(subject: Subject) -> Iterator[Violation]:
    """It is there, available, and in the VPC of the nodes, or in none."""
    named = next((s.existing for s in subject.plan.storages if isinstance(s, EfsPlan)), None)
    if named is None:
        return
    path = ("storage", "efs", "existing")
    found = efs_file_system(subject, named)
    if found is None:
        yield Violation(
            path=path,
            message=f"there is no EFS file system {named} in {subject.plan.region}",
            remedy="name one that aws efs describe-file-systems lists",
        )
        return
    if found["LifeCycleState"] not in _MOUNTABLE:
        yield Violation(
            path=path,
            message=f"{named} is {found['LifeCycleState']}",
            remedy="wait until it is available, or name another",
        )
    targets = subject.aws.call("efs", "describe_mount_targets", FileSystemId=named)["MountTargets"]
    vpc = _vpc(subject)
    for other in {each["VpcId"] for each in targets} - {vpc}:
        nodes = f"in {vpc}" if vpc else "in a new VPC"
        yield Violation(
            path=path,
            message=f"{named} has mount targets in {other}, and the nodes are {nodes}",
            remedy="give that VPC in network.vpc and network.subnet, or delete its mount targets",
        )


def _vpc(subject: Subject) -> str | None:
    """Return the VPC of the nodes, or None when it is not made yet."""
    network = subject.plan.network
    if network.vpc_id:
        return network.vpc_id
    stack = find_stack(subject.aws, network.stack_name)
    return next(iter(stack.ids("AWS::EC2::VPC")), None) if stack else None


def efs_file_system(subject: Subject, named: str) -> dict[str, Any] | None:
    """Return a file system of EFS, or None when it is not there."""
    with accepting("FileSystemNotFound"):
        answer = subject.aws.call("efs", "describe_file_systems", FileSystemId=named)
        found: dict[str, Any] = answer["FileSystems"][0]
        return found
    return None
