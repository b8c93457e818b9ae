"""Instance types that are withdrawn, or of a previous generation."""

from collections.abc import Iterator

from trainshed.catalogue import LifecycleStatus
from trainshed.checks import all_rules
from trainshed.checks.software import LAST_SOFTWARE
from trainshed.lint.examples import eksctl_example, slurm_example
from trainshed.lint.model import FileKind, LintedFile, NodeGroup
from trainshed.lint.parts import known_types, node_groups
from trainshed.lint.rule import FileViolation, decided, lint_rule


@lint_rule(
    all_rules()["TS-LIF-001"],
    over=node_groups,
    examples={
        FileKind.CLOUDFORMATION: """
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceType: dl1.24xlarge}
""",
        FileKind.EKSCTL: eksctl_example(
            "managedNodeGroups: [{name: train, instanceType: dl1.24xlarge}]"
        ),
        FileKind.PARALLELCLUSTER: slurm_example("InstanceType: dl1.24xlarge"),
    },
)
def withdrawn_type(group: NodeGroup, document: LintedFile) -> Iterator[FileViolation]:
    """The EC2 API must list the types of the nodes."""
    names = decided(group.instance_types)
    for instance in known_types(names.value) if names else ():
        if instance.withdrawn:
            lifecycle = instance.lifecycle
            yield FileViolation(
                path=names.path if names else group.path,
                message=f"the EC2 API has not listed {instance.name} since "
                f"{lifecycle.first_missing} (last seen {lifecycle.last_seen}): it may not launch",
                remedy=f"use {lifecycle.replacement}",
                rests_on=(names,),
            )


@lint_rule(
    all_rules()["TS-LIF-002"],
    over=node_groups,
    examples={
        FileKind.CLOUDFORMATION: """
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceType: p3dn.24xlarge}
"""
    },
)
def previous_generation(group: NodeGroup, document: LintedFile) -> Iterator[FileViolation]:
    """Plans for years should not rest on a type that may go."""
    names = decided(group.instance_types)
    for instance in known_types(names.value) if names else ():
        if instance.lifecycle.status is LifecycleStatus.PREVIOUS_GENERATION:
            yield FileViolation(
                path=names.path if names else group.path,
                message=f"{instance.name} is of a previous generation",
                remedy=f"plan for {instance.lifecycle.replacement}",
                rests_on=(names,),
            )


@lint_rule(
    all_rules()["TS-LIF-006"],
    over=node_groups,
    examples={
        FileKind.CLOUDFORMATION: """
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceType: dl1.24xlarge}
"""
    },
)
def last_software(group: NodeGroup, document: LintedFile) -> Iterator[FileViolation]:
    """Whoever starts with an accelerator should know how long its software lives."""
    names = decided(group.instance_types)
    for instance in known_types(names.value) if names else ():
        accelerator = instance.accelerator.name
        if accelerator in LAST_SOFTWARE:
            yield FileViolation(
                path=names.path if names else group.path,
                message=f"the last software for the {accelerator} of {instance.name} is "
                f"{LAST_SOFTWARE[accelerator][0]}",
                remedy="pin what works, image and AMI, and plan the next training for another type",
                rests_on=(names,),
            )
