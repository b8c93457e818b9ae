"""AMIs that get no more updates."""

import re
from collections.abc import Iterator

from trainshed.checks.ami_parameters import (
    ended_neuron_parameter,
    names_amazon_linux_2,
    names_ubuntu_20,
)
from trainshed.checks.software import AMAZON_LINUX_2_END, UBUNTU_20_END
from trainshed.findings import Violation, rule
from trainshed.lint.examples import eksctl_example, resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Known, NodeGroup
from trainshed.lint.parts import node_groups
from trainshed.lint.read import read

_PATH = re.compile(r"/aws/service/[^}:]*")
# Of AWS Batch, EKS, eksctl and ParallelCluster.
_AMAZON_LINUX_2_TYPES = re.compile(r"(ECS|EKS)_AL2(_NVIDIA)?|AL2_.*|AmazonLinux2|alinux2")
_UBUNTU_20_TYPES = re.compile(r"Ubuntu2004|ubuntu2004")
# TS-BAT-009 is about them: AWS Batch refuses to make such an environment.
_REFUSED = "AWS::Batch::ComputeEnvironment"
# It asks that an AMI of one's own is of the system that the file names.
_NAMES_SYSTEM = "ParallelCluster"


def _template(parameter: str) -> dict[FileKind, str]:
    return resources_example(f"""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: "{{{{resolve:ssm:{parameter}}}}}"
""")


def _parameter(group: NodeGroup) -> Known[str] | None:
    """Return the SSM parameter that a group takes its AMI from."""
    image = read(group.image)
    found = _PATH.search(image.value) if image else None
    if image and found:
        return Known(value=found[0], path=image.path, defaults=image.defaults)
    return None


def _ended(
    group: NodeGroup, parameter: Known[str] | None, types: re.Pattern[str]
) -> Known[str] | None:
    """Return what says that the AMI is of an ended system: a parameter, or the type of AMI."""
    if parameter or (group.image and group.launch != _NAMES_SYSTEM):
        return parameter
    kind = read(group.image_type)
    if kind and types.fullmatch(kind.value) and group.launch != _REFUSED:
        return kind
    return None


@rule(
    "TS-LIF-003",
    over=in_files(node_groups),
    example={
        **_template("/aws/service/ecs/optimized-ami/amazon-linux-2/gpu/recommended/image_id"),
        **eksctl_example("managedNodeGroups: [{name: train, amiFamily: AmazonLinux2}]"),
        FileKind.PARALLELCLUSTER: """
Region: us-west-2
Image: {Os: alinux2}
HeadNode: {InstanceType: m5.large}
Scheduling: {Scheduler: slurm, SlurmQueues: []}
""",
    },
)
def amazon_linux_2(group: NodeGroup) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    parameter = _parameter(group)
    named = parameter if parameter and names_amazon_linux_2(parameter.value) else None
    if named or not parameter:
        found = _ended(group, named, _AMAZON_LINUX_2_TYPES)
        if found:
            yield Violation(
                path=found.path,
                message=f"{found.value} is of Amazon Linux 2, whose support ended on "
                f"{AMAZON_LINUX_2_END}",
                remedy="use an AMI of Amazon Linux 2023",
            )


@rule(
    "TS-LIF-004",
    over=in_files(node_groups),
    example=_template(
        "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-20.04/latest/ami-id"
    ),
)
def ubuntu_20(group: NodeGroup) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    parameter = _parameter(group)
    named = parameter if parameter and names_ubuntu_20(parameter.value) else None
    if named or not parameter:
        found = _ended(group, named, _UBUNTU_20_TYPES)
        if found:
            yield Violation(
                path=found.path,
                message=f"{found.value} is of Ubuntu 20.04, whose public updates ended on "
                f"{UBUNTU_20_END}",
                remedy="use an AMI of Ubuntu 24.04 or Amazon Linux 2023",
            )


@rule(
    "TS-LIF-005",
    over=in_files(node_groups),
    example=_template("/aws/service/neuron/dlami/multi-framework/ubuntu-22.04/latest/image_id"),
)
def ended_neuron_ami(group: NodeGroup) -> Iterator[Violation]:
    """A parameter should be one that AWS goes on with."""
    parameter = _parameter(group)
    message = ended_neuron_parameter(parameter.value) if parameter else None
    if parameter and message:
        yield Violation(
            path=parameter.path,
            message=message,
            remedy="name multi-framework or base of ubuntu-24.04",
        )
