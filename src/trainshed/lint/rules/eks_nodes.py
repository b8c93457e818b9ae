"""Managed node groups of EKS: what keeps their nodes from joining, or pods from starting."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.interfaces import InterfaceKind
from trainshed.lint.eks_of_template import ADDON, ManagedNodes, managed_nodes
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Given, Unknown
from trainshed.lint.parts import known_types, listed_interfaces
from trainshed.lint.read import NotDecided, read, value_of
from trainshed.lint.security_rules import Direction, rules_of, security_group
from trainshed.lint.template import Template
from trainshed.lint.user_data import user_data_text

_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
# The attribute of a cluster, and what exports and parameters with its value are called.
_OF_CLUSTER = "ClusterSecurityGroupId"
_DRIVERS = {
    "NVIDIA": AcceleratorFamily.NVIDIA,
    "NEURON": AcceleratorFamily.NEURON,
    "STANDARD": None,
}


def _group(properties: str, data: str = "") -> dict[FileKind, str]:
    nodes = f"""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        {data}
"""
    named = "LaunchTemplate: {Id: !Ref Nodes, Version: !GetAtt Nodes.LatestVersionNumber}"
    return resources_example(f"""{nodes if data else ""}
  Train:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: example
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      {properties}
      {named if data else "InstanceTypes: [p5.48xlarge]"}
""")


@rule(
    "TS-EKS-035",
    title="The nodes are not in the cluster's security group",
    severity=Severity.ERROR,
    why="""
EKS adds the cluster's security group to nodes only while the launch template names none. With
groups of one's own, nodes and control plane reach each other only by the rules of these: without
any, nodes do not join by the private endpoint, and the control plane reaches neither kubelets nor
webhooks. From 1.33 on the cluster's group has EFA's rules, too.
""",
    sources=(
        _TEMPLATES,
        "https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
    ),
    over=in_files(managed_nodes),
    example=_group(
        "AmiType: AL2023_x86_64_NVIDIA",
        """SecurityGroupIds: [!Ref Peers]
  Peers:
    Type: AWS::EC2::SecurityGroup
    Properties: {GroupDescription: EFA peers, VpcId: vpc-11111111}""",
    ),
)
def without_cluster_group(nodes: ManagedNodes) -> Iterator[Violation]:
    """Nodes must be reached, and reach the control plane."""
    groups = read(_groups(nodes))
    if not groups or any(_OF_CLUSTER in name for name in groups.value):
        return
    found = [security_group(nodes.template, name) for name in groups.value]
    outside = [name for name, each in zip(groups.value, found, strict=True) if not each]
    if outside:
        why = f"whether {', '.join(outside)} is the cluster's security group"
        raise NotDecided(Unknown(why=why, path=groups.path))
    own = {each.logical_id for each in found if each}
    if not _lets_the_control_plane_through(nodes.template, own):
        yield Violation(
            path=groups.path,
            message=f"the nodes of {nodes.resource.logical_id} are in {', '.join(sorted(own))}, "
            "and not in the cluster's security group, which EKS then does not add",
            remedy="add !GetAtt CLUSTER.ClusterSecurityGroupId to the groups of each interface",
        )


def _groups(nodes: ManagedNodes) -> Given[tuple[str, ...]]:
    """Return the groups of the first interface, which the VPC CNI gives the others that it adds."""
    own = nodes.data.get("SecurityGroupIds").references()
    if own is not None:
        return own
    rows = listed_interfaces(nodes.group)
    return rows[0].security_groups if rows else None


def _lets_the_control_plane_through(template: Template, own: set[str]) -> bool:
    """Whether a rule joins one of the groups with the cluster's; not, whether it is enough."""
    references = {f"${{{name}}}" for name in own} | {f"${{{name}.GroupId}}" for name in own}
    for direction in Direction:
        for name in own:
            for each in rules_of(template, template.resources[name], direction):
                if isinstance(each, Unknown):
                    return True  # it may
                peer = value_of(each.peer_group)
                if isinstance(each.peer_group, Unknown) or (peer and _OF_CLUSTER in peer):
                    return True
        for resource in template.of_type(f"AWS::EC2::{direction}"):
            owner = value_of(resource.get("GroupId").reference()) or ""
            peer = value_of(resource.get(direction.peer).reference()) or ""
            if _OF_CLUSTER in owner and peer in references:
                return True
    return False


@rule(
    "TS-EKS-036",
    title="Nodes announce more pods than they have addresses for",
    why="""
An `efa-only` interface on card 0 takes a slot there and has no addresses. The VPC CNI knows that;
what counts the pods of a node (nodeadm, or EKS) does not, and announces as many as if the VPC CNI
had the slot: on p5.48xlarge 100, with addresses for 49. The pods beyond them hang in
`ContainerCreating`.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/doc/examples.md",
        "https://github.com/aws/amazon-vpc-cni-k8s/blob/master/pkg/ipamd/ipamd.go",
        "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
    ),
    over=in_files(managed_nodes),
    example=_group(
        "AmiType: AL2023_x86_64_NVIDIA",
        "NetworkInterfaces:\n"
        "          - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: interface}\n"
        "          - {NetworkCardIndex: 0, DeviceIndex: 1, InterfaceType: efa-only}",
    ),
)
def too_many_pods(nodes: ManagedNodes) -> Iterator[Violation]:
    """A node must have an address for each pod."""
    rows = listed_interfaces(nodes.group)
    taken = [
        row
        for row in rows
        if (kind := read(row.kind))
        and kind.value == InterfaceKind.EFA_ONLY
        and (card := read(row.card))
        and card.value == 0
    ]
    if not taken or _delegates_prefixes(nodes.template):
        return
    given = read(nodes.data.get("UserData").reference())
    text = user_data_text(given.value) if given else ""
    if text is None:
        raise NotDecided(Unknown(why="the user data", path=given.path if given else ()))
    if not any(word in text for word in ("maxPods", "max-pods", "MAX_PODS")):
        yield Violation(
            path=taken[0].path,
            message=f"an efa-only interface takes a slot of card 0 of {nodes.resource.logical_id}, "
            "and nothing says how many pods its nodes take then",
            remedy=f'set maxPodsExpression: "((default_enis - {len(taken)}) * (ips_per_eni - 1)) '
            '+ 2" of nodeadm in the user data, or delegate prefixes (ENABLE_PREFIX_DELEGATION)',
        )


def _delegates_prefixes(template: Template) -> bool:
    return any(
        "ENABLE_PREFIX_DELEGATION" in (value_of(each.get("ConfigurationValues").reference()) or "")
        for each in template.of_type(ADDON)
    )


@rule(
    "TS-EKS-037",
    title="The AMI of a managed node group has no driver for the accelerator",
    severity=Severity.ERROR,
    why="""
The AMIs that EKS chooses by `AmiType` have one maker's driver, or none; without `AmiType` EKS takes
the one without. Gaudi's driver is in none of them. Nodes join, and Kubernetes sees no accelerator.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html",
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
    ),
    over=in_files(managed_nodes),
    example=_group("AmiType: AL2023_x86_64_STANDARD"),
)
def no_driver(nodes: ManagedNodes) -> Iterator[Violation]:
    """The AMI must have the driver."""
    if nodes.data.get("ImageId"):
        return
    kind, types = read(nodes.group.image_type), read(nodes.group.instance_types)
    name = kind.value if kind else "AL2023_x86_64_STANDARD"
    driver = name.rpartition("_")[2]
    if not name.startswith("AL2023_") or driver not in _DRIVERS or not types:
        return
    for instance in known_types(types.value):
        if instance.accelerator.family is not _DRIVERS[driver]:
            yield Violation(
                path=kind.path if kind else nodes.resource.path,
                message=f"{nodes.resource.logical_id} has {name if kind else 'no AmiType'}, and "
                f"its AMI has no driver for the {instance.accelerator.name} of {instance.name}",
                remedy=_remedy(instance.accelerator.family, instance.architecture),
            )


def _remedy(family: AcceleratorFamily, architecture: str) -> str:
    if name := next((each for each, of in _DRIVERS.items() if of is family), None):
        machine = "ARM_64" if architecture == "arm64" else architecture
        return f"set AmiType: AL2023_{machine}_{name}"
    return "name an AMI of your own with the driver in the launch template"
