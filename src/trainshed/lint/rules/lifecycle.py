"""Instance types that are withdrawn, or of a previous generation."""

from collections.abc import Iterator

from trainshed.catalogue import LifecycleStatus
from trainshed.checks.software import LAST_SOFTWARE
from trainshed.findings import Violation, rule
from trainshed.lint.examples import eksctl_example, resources_example, slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, NodeGroup
from trainshed.lint.parts import known_types, node_groups
from trainshed.lint.read import read


def _template(instance_type: str) -> dict[FileKind, str]:
    return resources_example(f"""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {{InstanceType: {instance_type}}}
""")


@rule(
    "TS-LIF-001",
    over=in_files(node_groups),
    example=_template("dl1.24xlarge")
    | eksctl_example("managedNodeGroups: [{name: train, instanceType: dl1.24xlarge}]")
    | slurm_example("InstanceType: dl1.24xlarge"),
)
def withdrawn_type(group: NodeGroup) -> Iterator[Violation]:
    """The EC2 API must list the types of the nodes."""
    names = read(group.instance_types)
    for instance in known_types(names.value) if names else ():
        if instance.withdrawn:
            lifecycle = instance.lifecycle
            yield Violation(
                path=names.path if names else group.path,
                message=f"the EC2 API has not listed {instance.name} since "
                f"{lifecycle.first_missing} (last seen {lifecycle.last_seen}): it may not launch",
                remedy=f"use {lifecycle.replacement}",
            )


@rule(
    "TS-LIF-002",
    over=in_files(node_groups),
    example=_template("p3dn.24xlarge"),
)
def previous_generation(group: NodeGroup) -> Iterator[Violation]:
    """Plans for years should not rest on a type that may go."""
    names = read(group.instance_types)
    for instance in known_types(names.value) if names else ():
        if instance.lifecycle.status is LifecycleStatus.PREVIOUS_GENERATION:
            yield Violation(
                path=names.path if names else group.path,
                message=f"{instance.name} is of a previous generation",
                remedy=f"plan for {instance.lifecycle.replacement}",
            )


@rule(
    "TS-LIF-006",
    over=in_files(node_groups),
    example=_template("dl1.24xlarge"),
)
def last_software(group: NodeGroup) -> Iterator[Violation]:
    """Whoever starts with an accelerator should know how long its software lives."""
    names = read(group.instance_types)
    for instance in known_types(names.value) if names else ():
        accelerator = instance.accelerator.name
        if accelerator in LAST_SOFTWARE:
            yield Violation(
                path=names.path if names else group.path,
                message=f"the last software for the {accelerator} of {instance.name} is "
                f"{LAST_SOFTWARE[accelerator][0]}",
                remedy="pin what works, image and AMI, and plan the next training for another type",
            )
