"""Names in an eksctl cluster file, and the add-ons without which no node gets ready."""

from collections.abc import Iterator

from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.eksctl import EksctlCluster, eksctl_clusters
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Known
from trainshed.lint.read import read

# EKS API reference, CreateCluster (name) and CreateNodegroup; CloudFormation API reference,
# CreateStack (StackName).
_MOST_OF_CLUSTER, _MOST_OF_GROUP, _MOST_OF_STACK = 100, 63, 128
_CNI = "vpc-cni"


@rule(
    "TS-EKS-011",
    title="A name of an eksctl cluster file is too long, or used twice",
    severity=Severity.ERROR,
    why="""
The name of a cluster has at most 100 characters, that of a managed node group 63. eksctl makes a
CloudFormation stack for each node group, `eksctl-CLUSTER-nodegroup-GROUP`, whose name has at most
128. Two node groups of one name are refused, even if one is managed and one is not.
""",
    sources=(
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html",
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/validation.go",
    ),
    over=in_files(eksctl_clusters),
    example={
        FileKind.EKSCTL: """
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-west-2}
nodeGroups: [{name: train, instanceType: m5.large}]
managedNodeGroups: [{name: train, instanceType: m5.large}]
"""
    },
)
def names(cluster: EksctlCluster) -> Iterator[Violation]:
    """Names must have room, and be of one thing."""
    name = read(cluster.name)
    if name and len(name.value) > _MOST_OF_CLUSTER:
        yield _too_long(name, "the cluster", _MOST_OF_CLUSTER)
    seen: set[str] = set()
    for group in cluster.groups:
        own = group.own_name
        if not isinstance(own, Known):
            continue
        stack = f"eksctl-{name.value}-nodegroup-{own.value}" if name else own.value
        if own.value in seen:
            yield Violation(
                path=own.path,
                message=f"two node groups are called {own.value}, and eksctl refuses the file",
                remedy="give each node group a name of its own",
            )
        elif group.managed and len(own.value) > _MOST_OF_GROUP:
            yield _too_long(own, "a managed node group", _MOST_OF_GROUP)
        elif len(stack) > _MOST_OF_STACK:
            yield Violation(
                path=own.path,
                message=f"the stack {stack} has a name of {len(stack)} characters, and "
                f"CloudFormation takes {_MOST_OF_STACK}",
                remedy=f"make the names of cluster and group {len(stack) - _MOST_OF_STACK} "
                "characters shorter",
            )
        seen.add(own.value)


def _too_long(name: Known[str], noun: str, most: int) -> Violation:
    return Violation(
        path=name.path,
        message=f"the name of {noun} has {len(name.value)} characters, and EKS takes {most}",
        remedy=f"give it a name of at most {most} characters",
    )


@rule(
    "TS-EKS-012",
    title="Node groups of the cluster have no network for pods",
    why="""
eksctl installs the VPC CNI with its default add-ons, but not in a cluster with EKS Auto Mode, whose
own nodes need none, and not with `disableDefaultAddons`. The nodes of node groups, which are no
nodes of Auto Mode, stay `NotReady` without a network plug-in.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/actions/addon/tasks.go",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/known_addons.go",
        "https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
    ),
    over=in_files(eksctl_clusters),
    example=eksctl_example("""
        autoModeConfig: {enabled: true}
        managedNodeGroups: [{name: train, instanceType: p5.48xlarge, efaEnabled: true}]
    """),
)
def no_network(cluster: EksctlCluster) -> Iterator[Violation]:
    """Nodes need a network plug-in."""
    auto, without = read(cluster.auto_mode), read(cluster.without_default_addons)
    reason = next((each for each in (without, auto) if each and each.value), None)
    if not cluster.groups or not reason:
        return
    addons = read(cluster.addons)
    if addons and _CNI not in map(str.lower, addons.value):
        what = "turns the default add-ons off" if reason is without else "uses EKS Auto Mode"
        named = ", ".join(group.name for group in cluster.groups)
        yield Violation(
            path=reason.path,
            message=f"the file {what} and does not list {_CNI}: the nodes of {named} stay "
            "NotReady unless something else is their network plug-in",
            remedy=f"list the add-ons {_CNI}, kube-proxy and coredns in addons",
        )
