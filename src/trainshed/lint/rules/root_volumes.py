"""Root volumes of nodes that pull container images."""

from collections.abc import Iterator

from trainshed.findings import Basis, Violation, rule
from trainshed.lint.eks_of_template import NODE_GROUP
from trainshed.lint.examples import eksctl_example, resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import LintedFile, NodeGroup
from trainshed.lint.parts import known_types
from trainshed.lint.read import read

# An AMI with drivers takes about 20 GiB, an image for training tens of GB when it is unpacked, and
# the kubelet evicts pods when 15 % of the volume are left.
_LEAST_GIB = 50


def _groups_of_eks(document: LintedFile) -> Iterator[NodeGroup]:
    return (group for group in document.groups if group.launch in ("eksctl", NODE_GROUP))


@rule(
    "TS-EKS-017",
    title="The root volume has little room for container images",
    why="""
Nodes of EKS keep container images on the root volume. Images for training unpack to tens of GB, and
beside them are the system, the drivers and what containers write. When 15 % of the volume are left,
the kubelet deletes images and then ends pods (`DiskPressure`): a job fails on the first node where
its image does not fit. A managed node group without a launch template has 20 GiB.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/",
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
    ),
    over=in_files(_groups_of_eks),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, volumeSize: 30}]"
    )
    | resources_example("""
  Train:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: example
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      AmiType: AL2023_x86_64_NVIDIA
      InstanceTypes: [p5.48xlarge]
"""),
)
def little_room(group: NodeGroup) -> Iterator[Violation]:
    """The volume must hold the images."""
    gib = read(group.root_gib)
    if not gib or gib.value >= _LEAST_GIB:
        return
    types = read(group.instance_types)
    if types and (accelerated := next(known_types(types.value), None)):
        yield Violation(
            path=gib.path,
            message=f"the root volume of {group.name} has {gib.value} GiB, for the system, the "
            f"drivers and the container images of {accelerated.name}",
            remedy="give it 200 GiB, as trainshed does by default, and gp3 with more throughput",
        )
