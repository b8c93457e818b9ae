"""The order in which add-ons and nodes of EKS are made."""

from collections.abc import Iterator

from trainshed.findings import Basis, Violation, rule
from trainshed.lint.cloudformation import CloudFormationDocument, resources
from trainshed.lint.control_planes_of_template import CLUSTER
from trainshed.lint.dependencies import made_before
from trainshed.lint.eks_of_template import ADDON, NODE_GROUP
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import LintedFile
from trainshed.lint.read import read, value_of
from trainshed.lint.template import Template, TemplateResource

# What else runs pods: then CoreDNS does not wait for a managed node group.
_OTHER_NODES = ("AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance")
_FARGATE = "AWS::EKS::FargateProfile"
_BEFORE_NODES = ("vpc-cni", "kube-proxy")


@rule(
    "TS-EKS-030",
    title="An add-on is made before the nodes that it needs, or after those that need it",
    why="""
CoreDNS runs on nodes: until there is one its add-on is `DEGRADED`, and CloudFormation waits for
it, in vain if the nodes are made later or in another stack. Nodes get ready only with the VPC CNI:
where EKS does not install that by itself (`BootstrapSelfManagedAddons: false`), and its add-on
waits for the node group, the group waits for nodes that never get ready.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html",
        "https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
        "https://github.com/terraform-aws-modules/terraform-aws-eks",
    ),
    over=in_files(resources(ADDON)),
    example=resources_example("""
  Train:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: example
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      InstanceTypes: [m6i.large]
  Dns:
    Type: AWS::EKS::Addon
    Properties: {ClusterName: example, AddonName: coredns}
"""),
)
def order(addon: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Add-ons and nodes are made in the order that they need."""
    assert isinstance(document, CloudFormationDocument)
    template = document.template
    name = read(addon.get("AddonName").text())
    groups = {each.logical_id for each in template.of_type(NODE_GROUP)}
    before = made_before(template, addon.logical_id)
    if not name:
        return
    if name.value == "coredns" and not groups & before and not _runs_elsewhere(template, groups):
        yield Violation(
            path=addon.path,
            message=f"{addon.logical_id} is coredns, and is made "
            + (f"without waiting for {', '.join(sorted(groups))}" if groups else "before any node")
            + ": it stays degraded, and the stack waits, until there is a node",
            remedy="add DependsOn with the node group of system pods"
            if groups
            else "make it in the stack of the first node group, with DependsOn",
        )
    if name.value in _BEFORE_NODES and groups & before and _bare(template):
        waits = ", ".join(sorted(groups & before))
        yield Violation(
            path=addon.path,
            message=f"{addon.logical_id} is {name.value}, without which no node gets ready, and "
            f"waits for {waits}",
            remedy=f"leave out the DependsOn, and add one to {waits} instead",
        )


def _runs_elsewhere(template: Template, groups: set[str]) -> bool:
    """Whether CoreDNS may have nodes that are no managed group, or a cluster that is not here."""
    clusters = [*template.of_type(CLUSTER)]
    automatic = any(
        value_of(each.get("ComputeConfig", "Enabled").flag()) is not False
        for each in clusters
        if each.get("ComputeConfig")
    )
    others = any(True for _ in template.of_type(*_OTHER_NODES, _FARGATE))
    return automatic or others or not (groups or clusters)


def _bare(template: Template) -> bool:
    """Whether a cluster of the template comes without EKS's own network plug-in."""
    return any(
        value_of(each.get("BootstrapSelfManagedAddons").flag()) is False
        for each in template.of_type(CLUSTER)
    )
