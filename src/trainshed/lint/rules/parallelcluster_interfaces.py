"""Addresses and security groups of interfaces, with ParallelCluster."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import Unknown
from trainshed.lint.parallelcluster import QueueNodes, slurm_nodes
from trainshed.lint.read import NotDecided, read
from trainshed.lint.tool_groups import has_efa, named_types

_VALIDATORS = "https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/validators/"


@rule(
    "TS-PCL-004",
    title="Nodes with several interfaces ask for a public address",
    severity=Severity.ERROR,
    why="""
EC2 gives a public address only to an instance that starts with one network interface.
ParallelCluster makes one for each network card, and, from 3.15 on, two for a single card with EFA
that has room for them; it refuses `AssignPublicIp` there.
""",
    sources=(
        f"{_VALIDATORS}instances_validators.py",
        "https://github.com/aws/aws-parallelcluster/pull/7457",
    ),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge",
        "Networking: {SubnetIds: [subnet-1], AssignPublicIp: true}",
    ),
)
def public_address(nodes: QueueNodes) -> Iterator[Violation]:
    """Only nodes with one interface can have a public address."""
    public = read(nodes.public_addresses)
    if not public or not public.value:
        return
    for instance in named_types(nodes):
        cards = len(instance.network_cards)
        if cards > 1 or (has_efa(nodes) and instance.network_cards[0].slots > 1):
            yield Violation(
                path=public.path,
                message=f"{nodes.name} asks for public addresses, and ParallelCluster gives "
                f"{instance.name} {max(cards, 2)} network interfaces or more",
                remedy="set AssignPublicIp: false, and use a private subnet with a NAT gateway",
            )


@rule(
    "TS-PCL-011",
    title="A queue with EFA has security groups of its own",
    severity=Severity.INFO,
    why="""
EFA needs a security group that allows all traffic from itself and to itself; a rule for addresses,
even for all, is not enough. ParallelCluster makes such a group unless `SecurityGroups` takes its
place. The rules of a group that exists are not in the file.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
        f"{_VALIDATORS}cluster_validators.py",
    ),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge, Efa: {Enabled: true}",
        "Networking:",
        "  SubnetIds: [subnet-1]",
        "  SecurityGroups: [sg-0123456789abcdef0]",
        "  PlacementGroup: {Enabled: true}",
    ),
)
def own_security_groups(nodes: QueueNodes) -> Iterator[Violation]:
    """The group of nodes with EFA must allow all traffic to itself."""
    groups = read(nodes.security_groups) if has_efa(nodes) else None
    if groups:
        raise NotDecided(
            Unknown(
                why=f"whether one of {', '.join(groups.value)} allows all traffic from itself and "
                f"to itself, as the EFA of {nodes.name} needs",
                path=groups.path,
            )
        )
    yield from ()
