"""The clusters and managed node groups of EKS in a CloudFormation template."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.lint.cloudformation import CloudFormationDocument
from trainshed.lint.model import LintedFile, NodeGroup
from trainshed.lint.nodes_of_template import launch_of
from trainshed.lint.template import Template, TemplateResource, TemplateValue

NODE_GROUP = "AWS::EKS::Nodegroup"
ADDON = "AWS::EKS::Addon"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedNodes:
    """A managed node group with its launch template.

    Attributes:
        resource: the node group.
        group: its nodes, by what the group and its launch template say.
        data: the `LaunchTemplateData`; nothing where it names no template, and not decided where
            that is not in the file.
        template: that it is in.
    """

    resource: TemplateResource
    group: NodeGroup
    data: TemplateValue
    template: Template


def managed_nodes(document: LintedFile) -> Iterator[ManagedNodes]:
    """Yield the managed node groups of a document, if it is a template."""
    if isinstance(document, CloudFormationDocument):
        groups = {group.path: group for group in document.groups}
        for resource in document.template.of_type(NODE_GROUP):
            yield ManagedNodes(
                resource=resource,
                group=groups[resource.path],
                data=launch_of(document.template, resource.get("LaunchTemplate")).data,
                template=document.template,
            )
