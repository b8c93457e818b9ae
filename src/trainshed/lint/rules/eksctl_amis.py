"""AMIs of one's own in eksctl cluster files, and how their nodes join."""

from collections.abc import Iterator

from trainshed.documents.yaml import DocumentError, parse_document
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.read import read

_NODEADM, _BOTTLEROCKET = "amazonlinux2023", "bottlerocket"


@rule(
    "TS-EKS-014",
    title="An AMI of one's own is not told how to join",
    severity=Severity.ERROR,
    why="""
With `ami`, eksctl asks for `amiFamily`, because that says how a node joins. On Amazon Linux 2023 it
writes a NodeConfig for nodeadm itself; what `overrideBootstrapCommand` has is then a second
NodeConfig, in YAML: a shell script there is refused. On Amazon Linux 2 and Ubuntu it writes nothing
for an AMI of one's own, and asks for the command. A managed group takes the command with an AMI of
its own only, and then neither `maxPodsPerNode` nor `releaseVersion`.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/validation.go",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/nodebootstrap/al2023.go",
        "https://docs.aws.amazon.com/eks/latest/eksctl/custom-ami-support.html",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example("""
        managedNodeGroups:
          - name: train
            instanceType: p5.48xlarge
            ami: ami-0123456789abcdef0
            amiFamily: AmazonLinux2023
            overrideBootstrapCommand: |
              #!/bin/bash
              /etc/eks/bootstrap.sh example
    """),
)
def not_told_how_to_join(group: EksctlGroup) -> Iterator[Violation]:
    """A node must know how to join."""
    if group.template_version:
        return
    ami, named, command = read(group.image), read(group.image_type), read(group.bootstrap)
    family = named.value.lower() if named else ""
    if ami and not named:
        yield Violation(
            path=ami.path,
            message=f"{group.name} has an AMI of its own and no amiFamily, which eksctl asks for",
            remedy="set amiFamily to the system of the AMI, for instance AmazonLinux2023",
        )
    by_command = not family.startswith((_NODEADM, _BOTTLEROCKET, "windows"))
    if ami and named and by_command and not command:
        yield Violation(
            path=ami.path,
            message=f"{group.name} has an AMI of its own of {named.value} and no "
            "overrideBootstrapCommand, without which its nodes do not join",
            remedy="call the AMI's bootstrap script in overrideBootstrapCommand, or use an AMI of "
            "Amazon Linux 2023",
        )
    if command and family == _BOTTLEROCKET:
        yield Violation(
            path=command.path,
            message=f"{group.name} is of Bottlerocket, which takes no overrideBootstrapCommand",
            remedy="set bottlerocket.settings instead",
        )
    elif command and (family == _NODEADM or (group.managed and not named and not ami)):
        if problem := _not_a_node_config(command.value):
            yield Violation(
                path=command.path,
                message=f"the overrideBootstrapCommand of {group.name} {problem}, and nodes of "
                "Amazon Linux 2023 join by a NodeConfig",
                remedy="write a NodeConfig (apiVersion: node.eks.aws/v1alpha1), and commands into "
                "preBootstrapCommands",
            )
    elif command and group.managed and not ami:
        yield Violation(
            path=command.path,
            message=f"{group.name} is managed, has no AMI of its own, and takes no "
            "overrideBootstrapCommand",
            remedy="leave it out, or name an AMI in ami",
        )
    if ami and group.managed:
        for setting in group.of_eksctl:
            yield Violation(
                path=(*group.path, setting),
                message=f"{group.name} has an AMI of its own, for which eksctl refuses {setting}",
                remedy=f"leave {setting} out"
                + (
                    ", and set kubelet.config.maxPods of a NodeConfig in overrideBootstrapCommand"
                    if setting == "maxPodsPerNode"
                    else ""
                ),
            )


def _not_a_node_config(text: str) -> str | None:
    """Say what a text is, if it is no NodeConfig of nodeadm."""
    try:
        value = parse_document(text).value
    except DocumentError:
        return "is not YAML"
    if not isinstance(value, dict):
        return "is not a mapping of keys to values"
    if value.get("kind") != "NodeConfig":
        return f"has kind {value.get('kind')!r}" if "kind" in value else "has no kind"
    return None
