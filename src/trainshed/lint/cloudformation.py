"""Read CloudFormation templates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from trainshed.documents.yaml import Value
from trainshed.lint.control_planes_of_template import control_planes
from trainshed.lint.lustre_of_template import file_systems
from trainshed.lint.model import FileKind, LintedFile, Unknown
from trainshed.lint.nodes_of_template import node_groups
from trainshed.lint.reading import Content, UnreadableFile
from trainshed.lint.template import Template, TemplateResource, read_resources
from trainshed.lint.template_cases import template_cases

_SECTIONS = ("Parameters", "Mappings", "Conditions", "Resources")
# Resources of other services have conditions, too, which make no difference here.
_JUDGED = ("AWS::AutoScaling::", "AWS::Batch::", "AWS::EC2::", "AWS::EKS::", "AWS::FSx::")
# What it does is known, and the functions that it adds are resolved, or said not to be.
_KNOWN_TRANSFORM = "AWS::LanguageExtensions"


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFormationDocument(LintedFile):
    """A template in one of its cases.

    Attributes:
        template: for rules about what only templates have.
    """

    template: Template


def resources(*types: str) -> Callable[[LintedFile], Iterator[TemplateResource]]:
    """Return what yields the resources of some types of a document, if it is a template."""

    def of_types(document: LintedFile) -> Iterator[TemplateResource]:
        if isinstance(document, CloudFormationDocument):
            yield from document.template.of_type(*types)

    return of_types


def is_cloudformation(value: dict[str, Value]) -> bool:
    """Whether a file is a CloudFormation template."""
    if "AWSTemplateFormatVersion" in value:
        return True
    found = value.get("Resources")
    return isinstance(found, dict) and any(
        isinstance(each, dict) and isinstance(each.get("Type"), str) for each in found.values()
    )


def read_cloudformation(content: Content) -> Iterable[LintedFile]:
    """Return a template in each of its cases, the usual one first.

    Raises:
        UnreadableFile: it has no resources.
    """
    made_elsewhere = {"Transform", "Fn::Transform"} & content.value.keys()
    if not isinstance(content.value.get("Resources"), dict) and not made_elsewhere:
        raise UnreadableFile(
            f"{content.where.file}: a CloudFormation template needs Resources, a mapping of names "
            "to resources"
        )
    sections = {name: _mapping(content.value.get(name)) for name in _SECTIONS}
    judged = [
        each
        for each in sections["Resources"].values()
        if isinstance(each, dict) and str(each.get("Type")).startswith(_JUDGED)
    ]
    cases, complete = template_cases(sections, judged)
    not_judged = [*_not_judged(content.value, sections["Resources"])]
    if not complete:
        why = "all cases of the conditions together: they are judged one difference at a time"
        not_judged.append(Unknown(why=why, path=("Conditions",)))
    for case in cases:
        template = read_resources(case.scope)
        yield CloudFormationDocument(
            kind=FileKind.CLOUDFORMATION,
            where=content.where,
            groups=node_groups(template),
            file_systems=file_systems(template),
            control_planes=control_planes(template),
            case=case.names,
            not_judged=tuple(not_judged),
            template=template,
        )


def _mapping(value: Value) -> dict[str, Value]:
    return value if isinstance(value, dict) else {}


def _not_judged(value: dict[str, Value], found: dict[str, Value]) -> Iterator[Unknown]:
    transforms = value.get("Transform")
    for index, each in enumerate(transforms if isinstance(transforms, list) else [transforms]):
        name = each.get("Name") if isinstance(each, dict) else each
        if name is not None and name != _KNOWN_TRANSFORM:
            path = ("Transform", index) if isinstance(transforms, list) else ("Transform",)
            yield Unknown(why=f"what the transform {name} makes of the template", path=path)
    if "Fn::Transform" in value:
        yield Unknown(why="what Fn::Transform makes of the template", path=("Fn::Transform",))
    for name, resource in found.items():
        if isinstance(resource, dict) and resource.get("Type") == "AWS::CloudFormation::Stack":
            why = f"the template of the nested stack {name}, which is a file of its own"
            yield Unknown(why=why, path=("Resources", name))
        if name.startswith("Fn::ForEach::"):
            yield Unknown(why="what Fn::ForEach makes", path=("Resources", name))
        elif name == "Fn::Transform":
            yield Unknown(why="what Fn::Transform makes", path=("Resources", name))
