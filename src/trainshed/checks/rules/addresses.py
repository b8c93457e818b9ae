"""Whether subnets have the private addresses that nodes and jobs take."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainshed.checks import ClusterInFleet, clusters
from trainshed.checks.neighbours import names_of_others
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.interfaces import plan_interfaces
from trainshed.plan import ClusterPlan
from trainshed.plan.cluster import node_addresses
from trainshed.plan.network import larger_range
from trainshed.plan.sharing import addresses_of

# What should be left of a subnet at the most that its clusters take.
_LEFT_PERCENT = 10
_DOCKER = IPv4Network("172.17.0.0/16")


@rule(
    "TS-ADR-001",
    over=clusters,
    title="The largest clusters leave few addresses of their subnet",
    why="""
A node that ends keeps its addresses for minutes, while its replacement takes others. When the
nodes change, AWS Batch launches new ones beside those whose jobs still run. In a subnet without
addresses for them, these launches fail, and jobs wait.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html",
        "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",
    ),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 60}}
network: {cidr: 10.20.0.0/22}
""",
)
def subnet_nearly_full(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """A subnet should have addresses to spare."""
    for subnet in plan.network.subnets:
        users = [each for each in cluster.fleet.clusters if subnet in _subnets(each, plan)]
        needed, usable = addresses_of(users), subnet.usable_addresses
        if needed * 100 > usable * (100 - _LEFT_PERCENT):
            names = ", ".join(each.name for each in users)
            wider = larger_range(plan.network.cidr, -(-needed * 100 // (100 - _LEFT_PERCENT)))
            yield Violation(
                path=("network", "cidr"),
                message=f"{subnet.private_cidr} has {usable} addresses, of which the largest jobs "
                f"of {names} take {needed}: {usable - needed} are left for nodes that replace "
                "others",
                remedy=f"before you deploy, {wider}; a VPC keeps its range",
            )


def _subnets(other: ClusterPlan, plan: ClusterPlan) -> tuple[object, ...]:
    """Return the subnets of a cluster, if it is in the same network as another."""
    return other.network.subnets if other.network.stack_name == plan.network.stack_name else ()


@rule(
    "TS-ADR-002",
    over=clusters,
    title="The layout of the interfaces takes more addresses than it must",
    why="""
An interface of the kind `efa` has an address of the subnet, one of the kind `efa-only` has none,
and carries the same EFA traffic. With an address on each of 32 cards, a subnet of 1,000 addresses
is full with 30 nodes. The addresses add no bandwidth for jobs, whose traffic between nodes is EFA.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",
    ),
    example="instance: {type: trn1.32xlarge, nodes: {max: 2}, interfaces: combined}",
)
def wasteful_layout(plan: ClusterPlan) -> Iterator[Violation]:
    """Interfaces for EFA need no addresses."""
    usual = plan.traits.profile
    fewest = node_addresses(plan_interfaces(plan.instance, usual))
    taken = node_addresses(plan.interfaces)
    if taken > fewest:
        yield Violation(
            path=("instance", "interfaces"),
            message=f"profile {plan.profile} takes {taken} addresses for each node of "
            f"{plan.instance.name}, {usual} takes {fewest}",
            remedy="leave instance.interfaces out, unless what runs on the nodes needs an address "
            "on every card",
        )


@rule(
    "TS-ADR-003",
    over=clusters,
    title="An existing subnet must have addresses free for every node",
    why="""
Each node, each job on it and the file system take addresses of the subnet. Only the account knows
how many are free; EC2 refuses a launch when there are too few.
""",
    severity=Severity.INFO,
    sources=("https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 16}}
network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}
""",
)
def existing_subnet(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """An existing subnet has room for every cluster that names it."""
    subnet = plan.network.subnet_id
    if subnet is None:
        return
    users = [each for each in cluster.fleet.clusters if each.network.subnet_id == subnet]
    others = names_of_others(plan, users)
    shared = f", for {others} and this cluster at once" if others else ""
    yield Violation(
        path=("network", "subnet"),
        message=f"{subnet} must have {addresses_of(users)} addresses free{shared}",
        remedy=f"compare AvailableIpAddressCount: aws ec2 describe-subnets --subnet-ids {subnet} "
        f"--region {plan.region}",
    )


@rule(
    "TS-ADR-004",
    over=clusters,
    title="The VPC has the addresses of Docker's own network",
    why="""
Docker's bridge on each node has the addresses 172.17.0.0/16. A node cannot reach what has such an
address in the VPC, because its packets go to the bridge. The VPC guide advises against the range.
""",
    sources=("https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html",),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 2}}
network: {cidr: 172.17.0.0/16}
""",
)
def range_of_docker(plan: ClusterPlan) -> Iterator[Violation]:
    """The range of a new VPC should not be Docker's."""
    cidr = plan.network.cidr
    if cidr and cidr.overlaps(_DOCKER):
        yield Violation(
            path=("network", "cidr"),
            message=f"{cidr} overlaps {_DOCKER}, the network of Docker on each node",
            remedy="take another range, for instance 10.20.0.0/16",
        )
