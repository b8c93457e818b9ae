"""What the nodes of an eksctl cluster run."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.findings import Basis, Violation, rule
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import Unknown
from trainshed.lint.read import read
from trainshed.lint.tool_groups import named_types


@rule(
    "TS-EKS-006",
    title="The version of the launch template is left open",
    why="""
Without a number, the version is the template's default one, or the newest, at the moment at which
nodes are made: the same file gives other nodes tomorrow, and a review does not see what changed. A
new version does not become the default one by itself.
""",
    sources=(
        "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/manage-launch-template-versions.html",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, launchTemplate: {id: lt-0123456789abcdef0}}]"
    ),
)
def open_template_version(group: EksctlGroup) -> Iterator[Violation]:
    """A file should name the version that its nodes come from."""
    version = read(group.template_version)
    if version and version.value in ("$Default", "$Latest"):
        yield Violation(
            path=version.path,
            message=f"{group.name} takes the version {version.value} of its launch template, which "
            "changes without this file",
            remedy="give the number of the version in launchTemplate.version",
        )


@rule(
    "TS-EKS-008",
    title="The AMIs of the family have no driver for the accelerator",
    why="""
For a type with an accelerator eksctl takes the variant of the AMI that has its driver, where the
family has one. Canonical's AMIs of Ubuntu for EKS come without driver, and Gaudi's is in no AMI of
EKS: unless something installs it on the node, Kubernetes sees no accelerator there.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/ami/ssm_resolver.go",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: trn1.32xlarge, amiFamily: Ubuntu2204}]"
    ),
)
def family_without_driver(group: EksctlGroup) -> Iterator[Violation]:
    """Nodes need an AMI with the driver of their accelerators."""
    family = read(group.image_type)
    if read(group.image) or group.template_version:
        return
    if not family and isinstance(group.instance_types, Unknown):
        return  # a selector finds no DL1, which EC2 does not list, and the rest has a driver
    of = family.value if family else "EKS"
    for instance in named_types(group):
        gaudi = instance.accelerator.family is AcceleratorFamily.HABANA
        if gaudi or of.startswith("Ubuntu"):
            yield Violation(
                path=family.path if family else group.path,
                message=f"the AMIs of {of} have no driver for the {instance.accelerator.name} of "
                f"{instance.name}",
                remedy="name an AMI of your own with the driver in ami"
                if gaudi
                else "set amiFamily: AmazonLinux2023, or install the driver on the nodes",
            )
