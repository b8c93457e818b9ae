"""Launch templates of managed node groups of EKS: what they must not have, and user data."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.eks_of_template import ManagedNodes, managed_nodes
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind
from trainshed.lint.read import read, value_of
from trainshed.lint.template import TemplateValue
from trainshed.lint.user_data import is_multi_part, user_data_text

_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
_BANNED = {
    "IamInstanceProfile": "the role of the nodes is NodeRole of the node group",
    "HibernationOptions": "EKS controls the life of the nodes",
    "InstanceInitiatedShutdownBehavior": "EKS controls the life of the nodes",
}
# What stands in user data that makes a node join: nodeadm, the older script, Bottlerocket.
_JOINS = ("node.eks.aws", "nodeadm", "bootstrap.sh", "settings.kubernetes", "eksbootstrap")
_OF_AMI = ("AmiType", "Version", "ReleaseVersion")


def _example(data: str, properties: str = "InstanceTypes: [p5.48xlarge]") -> dict[FileKind, str]:
    return resources_example(f"""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        {data}
  Train:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: example
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      LaunchTemplate: {{Id: !Ref Nodes, Version: !GetAtt Nodes.LatestVersionNumber}}
      {properties}
""")


@rule(
    "TS-EKS-031",
    title="A managed node group and its launch template have what EKS refuses",
    severity=Severity.ERROR,
    why="""
Some settings belong to the node group alone: subnets, the role, Spot, and all that ends a node.
With a launch template others belong to that: size of the volume, ssh. The instance type is in one
of both. Where one stands in the wrong place, EKS refuses to make or update the node group.
""",
    sources=(
        _TEMPLATES,
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_LaunchTemplateSpecification.html",
    ),
    over=in_files(managed_nodes),
    example=_example("IamInstanceProfile: {Name: nodes}"),
)
def refused(nodes: ManagedNodes) -> Iterator[Violation]:
    """Each setting stands where EKS takes it."""
    data, resource = nodes.data, nodes.resource
    if not data:
        return
    name = resource.logical_id
    for key, instead in (("DiskSize", "BlockDeviceMappings"), ("RemoteAccess", "KeyName")):
        if found := resource.get(key):
            yield Violation(
                path=_path(found),
                message=f"{name} has a launch template and {key}, which EKS refuses",
                remedy=f"set {instead} of the launch template",
            )
    for key, reason in _BANNED.items():
        if given := read(data.get(key).given):
            yield Violation(
                path=given.path,
                message=f"the launch template of {name} has {key}, which EKS refuses: {reason}",
                remedy=f"leave {key} out",
            )
    market = read(data.get("InstanceMarketOptions", "MarketType").text())
    if market and market.value == "spot":
        yield Violation(
            path=market.path,
            message=f"the launch template of {name} asks for Spot, which EKS refuses there",
            remedy="set CapacityType: SPOT of the node group",
        )
    for row in data.get("NetworkInterfaces").known_entries():
        if subnet := row.get("SubnetId"):
            yield Violation(
                path=_path(subnet),
                message=f"an interface of the launch template of {name} names a subnet, which EKS "
                "refuses",
                remedy="name it in Subnets of the node group",
            )
    types = resource.get("InstanceTypes")
    if data.get("InstanceType") and types:
        yield Violation(
            path=_path(types),
            message=f"{name} and its launch template name instance types, and EKS takes one place",
            remedy="leave InstanceTypes out: the launch template has the type",
        )


@rule(
    "TS-EKS-032",
    title="A node group with an AMI of one's own is asked for what only EKS's AMIs have",
    severity=Severity.ERROR,
    why="""
With an AMI in the launch template EKS adds nothing to the user data: what is there must make the
node join (a NodeConfig of nodeadm, or the AMI's bootstrap script). EKS refuses a type, a version or
a release of AMI beside it, and warm pools.
""",
    sources=(
        _TEMPLATES,
        "https://docs.aws.amazon.com/eks/latest/userguide/warm-pools-managed-node-groups.html",
    ),
    over=in_files(managed_nodes),
    example=_example(
        "ImageId: ami-0123456789abcdef0",
        "InstanceTypes: [p5.48xlarge]\n      AmiType: AL2023_x86_64_NVIDIA",
    ),
)
def own_ami(nodes: ManagedNodes) -> Iterator[Violation]:
    """An AMI of one's own brings all that it needs."""
    data, resource = nodes.data, nodes.resource
    ami = read(data.get("ImageId").reference())
    if not ami:
        return
    name = resource.logical_id
    for key in _OF_AMI:
        given = read(resource.get(key).reference())
        if given and given.value != "CUSTOM":  # which EKS says of such groups
            yield Violation(
                path=given.path,
                message=f"{name} has an AMI of its own, and {key} {given.value}: EKS refuses both",
                remedy=f"leave {key} out",
            )
    if value_of(resource.get("WarmPoolConfig", "Enabled").flag()):
        yield Violation(
            path=resource.get("WarmPoolConfig").path,
            message=f"{name} has an AMI of its own, for which EKS refuses warm pools",
            remedy="leave WarmPoolConfig out",
        )
    user_data = read(data.get("UserData").reference())
    text = user_data_text(user_data.value) if user_data else ""
    if text is not None and not any(part in text.lower() for part in _JOINS):
        yield Violation(
            path=user_data.path if user_data else ami.path,
            message=f"{name} has an AMI of its own, and no user data by which its nodes join",
            remedy="add a NodeConfig of nodeadm (Content-Type: application/node.eks.aws) with the "
            "cluster's name, endpoint, certificate and range of services",
        )


@rule(
    "TS-EKS-033",
    title="Taints arrive after the node",
    why="""
With an AMI of one's own EKS taints nodes some time after they have registered. Until then, pods of
all kinds may be placed there, also on nodes with accelerators, and stay there.
""",
    sources=(_TEMPLATES,),
    over=in_files(managed_nodes),
    example=_example(
        "ImageId: ami-0123456789abcdef0\n        UserData:\n          Fn::Base64: |\n"
        "            kind: NodeConfig\n            apiVersion: node.eks.aws/v1alpha1",
        "Taints: [{Key: nvidia.com/gpu, Effect: NO_SCHEDULE}]",
    ),
)
def late_taints(nodes: ManagedNodes) -> Iterator[Violation]:
    """A node has its taints when it registers."""
    taints = nodes.resource.get("Taints")
    if not taints or not read(nodes.data.get("ImageId").reference()):
        return
    given = read(nodes.data.get("UserData").reference())
    text = user_data_text(given.value) if given else ""
    if text is not None and "register-with-taints" not in text and "registerWithTaints" not in text:
        yield Violation(
            path=_path(taints),
            message=f"{nodes.resource.logical_id} has an AMI of its own, and its taints come after "
            "the node has registered",
            remedy="pass --register-with-taints to the kubelet in the user data, too",
        )


@rule(
    "TS-EKS-034",
    title="The user data of a managed node group is not MIME multi-part",
    severity=Severity.ERROR,
    why="""
With an AMI of Amazon Linux that EKS chooses, EKS merges its own part, by which the node joins, into
the user data of the launch template. It can do so only when that is in the MIME multi-part format.
""",
    sources=(_TEMPLATES,),
    over=in_files(managed_nodes),
    example=_example(
        "UserData:\n          Fn::Base64: |\n            #!/bin/bash\n            mount -a"
    ),
)
def plain_user_data(nodes: ManagedNodes) -> Iterator[Violation]:
    """EKS must be able to add its part."""
    if not nodes.data or nodes.data.get("ImageId"):
        return
    kind = value_of(nodes.group.image_type) or "AL2023"
    given = read(nodes.data.get("UserData").reference())
    if given and kind.startswith("AL2") and not is_multi_part(given.value):
        yield Violation(
            path=given.path,
            message=f"the user data of {nodes.resource.logical_id} is not MIME multi-part",
            remedy="put it into a part of a MIME multi-part file; in CDK use ec2.MultipartUserData",
        )


def _path(found: TemplateValue) -> tuple[str | int, ...]:
    return found.given.path if found.given else found.path
