"""Whether an existing subnet can hold the nodes."""

from collections.abc import Iterator
from typing import Any

from trainshed.account.deployed_stacks import find_stack
from trainshed.aws import accepting
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import StoragePlan
from trainshed.preflight.rules.capacity import own_nodes
from trainshed.preflight.subject import Subject, accounts

_WHEN = "network.vpc and network.subnet name an existing network"
_SIZING = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
_PATH = ("network", "subnet")


def existing_subnet(subject: Subject) -> dict[str, Any] | None:
    """Return the existing subnet of the cluster as EC2 has it; None when it is not there."""
    named = subject.plan.network.subnet_id
    with accepting("InvalidSubnetID.NotFound"):
        found: dict[str, Any] = subject.aws.call("ec2", "describe_subnets", SubnetIds=[named])[
            "Subnets"
        ][0]
        return found
    return None


@rule(
    "TS-ACC-022",
    over=accounts,
    title="The subnet does not exist, or is not in the cluster's VPC and zone",
    when=_WHEN,
    why="""
Nodes, their file system and their reservation are in one zone, and so must be the subnet. Letters
of zones differ between accounts, so that only the account says which zone a subnet is in.
""",
    actions=("ec2:DescribeSubnets",),
    sources=("https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html",),
    severity=Severity.ERROR,
)
def subnet_fits(subject: Subject) -> Iterator[Violation]:
    """The subnet is of the VPC, and of the zone."""
    network, zone = subject.plan.network, subject.plan.zone
    if network.subnet_id is None:
        return
    subnet = existing_subnet(subject)
    if subnet is None:
        yield Violation(
            path=_PATH,
            message=f"there is no subnet {network.subnet_id} in {subject.plan.region}",
            remedy="name one that aws ec2 describe-subnets lists",
        )
        return
    if subnet["VpcId"] != network.vpc_id:
        yield Violation(
            path=("network", "vpc"),
            message=f"{network.subnet_id} is in {subnet['VpcId']}, not in {network.vpc_id}",
            remedy=f"set network.vpc to {subnet['VpcId']}, or name another subnet",
        )
    has = subnet["AvailabilityZoneId" if zone.is_id else "AvailabilityZone"]
    if has != zone.name:
        yield Violation(
            path=_PATH,
            message=f"{network.subnet_id} is in {has}, and the cluster is in {zone.name}",
            remedy=f"set zone to {has} if it offers {subject.plan.instance.name}, or name a "
            f"subnet in {zone.name}",
        )


@rule(
    "TS-ACC-023",
    over=accounts,
    title="The subnet has too few free addresses",
    when=_WHEN,
    why="""
Each node takes an address for each interface that has one, and a job on AWS Batch takes one more.
EC2 refuses a launch when too few addresses are free, and the job waits for its last node.
""",
    actions=(
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
        "ec2:DescribeInstances",
        "ec2:DescribeSubnets",
    ),
    sources=(_SIZING,),
    answers=("TS-ADR-003",),
    severity=Severity.ERROR,
)
def free_addresses(subject: Subject) -> Iterator[Violation]:
    """All nodes at once need addresses; those that run already have theirs."""
    plan = subject.plan
    if plan.network.subnet_id is None or not (subnet := existing_subnet(subject)):
        return
    storage = sum(each.interfaces for each in plan.storages)
    free = subnet["AvailableIpAddressCount"]
    if storage and plan.addresses + storage > free:
        storage = sum(e.interfaces for e in plan.storages if not _is_deployed(subject, e))
    needed = plan.addresses + storage
    if needed > free:
        needed -= own_nodes(subject) * plan.addresses_per_node
    if needed > free:
        nodes = plan.nodes.max
        new = f" and {storage} for a new file system" if storage else ""
        yield Violation(
            path=_PATH,
            message=f"{plan.network.subnet_id} has {free} free addresses; {nodes} nodes x "
            f"{plan.addresses_per_node}{new} need {needed} more",
            remedy="take a larger subnet, fewer nodes, or a profile with efa-only interfaces",
        )


def _is_deployed(subject: Subject, storage: StoragePlan) -> bool:
    """Whether storage is deployed, so that it has its addresses."""
    stack = find_stack(subject.aws, storage.stack_name)
    return stack is not None and bool(stack.ids(storage.resource_type))
