"""The security groups of eksctl's node groups."""

from collections.abc import Iterator

from trainshed.findings import Basis, Violation, rule
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import Unknown
from trainshed.lint.read import NotDecided, read


@rule(
    "TS-EKS-015",
    title="Nodes are outside of the security groups by which nodes are reached",
    why="""
Nodes of a managed group are always in the cluster's own security group, whatever the file attaches.
Those of a self-managed group are not: the group that all of them share (`withShared`) is what lets
them reach the API server, DNS and other nodes, and one of their own (`withLocal`) is what lets the
control plane reach them. Without the first, names are not resolved on these nodes; without both,
they do not join, unless a group in `attachIDs` lets all of that through.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/cfn/builder/nodegroup.go",
        "https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example("""
        nodeGroups:
          - {name: train, instanceType: p5.48xlarge, securityGroups: {withShared: false}}
    """),
)
def outside(group: EksctlGroup) -> Iterator[Violation]:
    """Self-managed nodes need the group that they share."""
    shared = None if group.managed else read(group.shared_security_group)
    if not shared or shared.value:
        return
    attached, local = read(group.attached), read(group.local_security_group)
    if attached and attached.value:
        why = f"the rules of security group {', '.join(attached.value)}, which is not in this file"
        raise NotDecided(Unknown(why=why, path=attached.path))
    alone = local is not None and not local.value
    yield Violation(
        path=shared.path,
        message=f"the nodes of {group.name} are not in the security group that eksctl's nodes "
        "share"
        + (
            ", nor in one of their own: they have the VPC's default group, and do not join"
            if alone
            else ": they reach neither DNS nor pods on other nodes"
        ),
        remedy="leave securityGroups.withShared out, or attach the cluster's security group by "
        "attachIDs",
    )
