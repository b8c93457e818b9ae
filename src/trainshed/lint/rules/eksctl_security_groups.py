"""The security groups of eksctl's node groups."""

from collections.abc import Iterator

from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.eksctl import EksctlCluster, eksctl_clusters, eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Unknown
from trainshed.lint.read import NotDecided, read, value_of
from trainshed.lint.tool_groups import has_efa

# EKS user guide, "Review release notes for Kubernetes versions": since 1.33 the cluster's group has
# EFA's rules.
_BUILT_IN = 33


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


@rule(
    "TS-EKS-040",
    title="A release of eksctl makes no security group for EFA on self-managed nodes",
    severity=Severity.INFO,
    why="""
From Kubernetes 1.33 on, EFA's rules are in the cluster's own security group, and eksctl 0.215.0
makes no group for them any more. Self-managed nodes are not in the cluster's group: with that
release nothing lets EFA through, and jobs of several nodes hang or fail. Later releases make the
group for such nodes again.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/pull/8554",
        "https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
    ),
    over=in_files(eksctl_clusters),
    example={
        FileKind.EKSCTL: """
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-west-2, version: "1.35"}
nodeGroups: [{name: train, instanceType: p5.48xlarge, efaEnabled: true}]
"""
    },
)
def no_efa_group(cluster: EksctlCluster) -> Iterator[Violation]:
    """EFA needs a group that lets it through."""
    version = value_of(cluster.control_planes[0].version) or ""
    major, _, minor = version.partition(".")
    if major != "1" or not minor.isdecimal() or int(minor) < _BUILT_IN:
        return
    for group in cluster.groups:
        if not group.managed and has_efa(group) and group.efa and not group.attached:
            yield Violation(
                path=group.efa.path,
                message=f"{group.name} is self-managed and has EFA, for which eksctl 0.215.0 makes "
                f"no security group with Kubernetes {version}",
                remedy="use a later release of eksctl, or managedNodeGroups",
            )
