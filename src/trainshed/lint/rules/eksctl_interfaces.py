"""The network interfaces that eksctl makes for EFA."""

from collections.abc import Iterator

from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.read import read
from trainshed.lint.tool_groups import has_efa, named_types


@rule(
    "TS-EKS-001",
    title="eksctl puts EFA on a network card that has none",
    severity=Severity.ERROR,
    why="""
With `efaEnabled`, eksctl makes an interface of kind `efa` for each network card of the type. Where
a card has no EFA, EC2 refuses the launch. Seen in eksctl of August 2026.
""",
    sources=("https://github.com/eksctl-io/eksctl/issues/8685",),
    over=in_files(eksctl_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p6-b300.48xlarge, efaEnabled: true}]"
    ),
)
def card_without_efa(group: EksctlGroup) -> Iterator[Violation]:
    """Every card of the type must have EFA."""
    if not has_efa(group) or not group.efa:
        return
    for instance in named_types(group):
        cards, with_efa = len(instance.network_cards), len(instance.efa_cards)
        if with_efa and with_efa < cards:
            yield Violation(
                path=group.efa.path,
                message=f"eksctl gives {group.name} {cards} interfaces with EFA, and of the cards "
                f"of {instance.name} only {with_efa} have EFA",
                remedy="leave efaEnabled out, and name a launch template with the right interfaces "
                f"in launchTemplate: trainshed catalogue show {instance.name} lists the cards",
            )


@rule(
    "TS-EKS-004",
    title="Nodes with several interfaces are in public subnets",
    why="""
An instance that starts with several network interfaces gets no public address by itself. In a
public subnet it then reaches neither the internet nor the public endpoint of the cluster, so nodes
do not join unless the cluster has a private endpoint and everything that they load has one, too.
eksctl puts nodes into private subnets only with `privateNetworking: true`, and with it into public
ones if the group names those.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",
        "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
        "https://docs.aws.amazon.com/eks/latest/eksctl/vpc-subnet-settings.html",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, efaEnabled: true}]"
    ),
)
def public_subnets(group: EksctlGroup) -> Iterator[Violation]:
    """Nodes with several interfaces need a way out that is not a public address."""
    public = read(group.in_public_subnets) if has_efa(group) else None
    if not public or not public.value:
        return
    types = named_types(group)
    # Of several types, the one with the fewest cards says how many interfaces eksctl makes.
    fewest = min(types, key=lambda each: len(each.network_cards), default=None)
    if fewest and len(fewest.network_cards) > 1:
        yield Violation(
            path=public.path,
            message=f"{group.name} is in public subnets, and its nodes get no public address: "
            f"eksctl gives {fewest.name} {len(fewest.network_cards)} network interfaces",
            remedy="set privateNetworking: true"
            + (", and name private subnets" if group.subnets else ""),
        )


@rule(
    "TS-EKS-016",
    title="Each EFA interface that eksctl makes takes an address",
    severity=Severity.INFO,
    why="""
With `efaEnabled`, eksctl makes an interface of kind `efa` for each network card. Each has an
address of the subnet, which EFA itself does not need, and the VPC CNI gives pods none of the cards
after the first. An `efa-only` interface has no address, but eksctl makes none. When the subnet has
no address left, EC2 launches no node.
""",
    sources=(
        "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/cfn/builder/network_interfaces.go",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, efaEnabled: true}]"
    ),
)
def addresses(group: EksctlGroup) -> Iterator[Violation]:
    """The subnet must have room for all interfaces."""
    if not has_efa(group) or not group.efa:
        return
    fewest = min((len(each.efa_cards) for each in named_types(group)), default=0)
    nodes = read(group.nodes)
    if fewest > 1 and nodes:
        yield Violation(
            path=group.efa.path,
            message=f"eksctl gives each node of {group.name} {fewest} interfaces of kind efa: "
            f"{nodes.value * fewest} addresses of the subnet for {nodes.value} nodes, beside those "
            "of pods",
            remedy="see that the subnet has as many, or name a launch template with efa-only "
            "interfaces in launchTemplate",
        )
