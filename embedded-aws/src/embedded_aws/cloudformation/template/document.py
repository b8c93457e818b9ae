"""Read a template, JSON or YAML, and expand the short forms of functions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.plain_yaml import AliasError, PlainLoader

_SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion",
        "Conditions",
        "Description",
        "Hooks",
        "Mappings",
        "Metadata",
        "Outputs",
        "Parameters",
        "Resources",
        "Rules",
        "Transform",
    }
)
_ATTRIBUTES = frozenset(
    {
        "Condition",
        "CreationPolicy",
        "DeletionPolicy",
        "DependsOn",
        "Description",
        "Metadata",
        "Properties",
        "Type",
        "UpdatePolicy",
        "UpdateReplacePolicy",
        "Version",
    }
)
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
_MOST = {"Mappings": 200, "Outputs": 200, "Parameters": 200, "Resources": 500}
_DESCRIPTION_BYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One template.

    Attributes:
        body: the text exactly as it was submitted.
        document: the same as data; every function in its long form (`Fn::GetAtt` is a list).
    """

    body: str
    document: Mapping[str, Any]

    def section(self, name: str) -> Mapping[str, Any]:
        """Return a top-level section, empty when the template has none."""
        section: Mapping[str, Any] = self.document.get(name) or {}
        return section

    @property
    def resources(self) -> Mapping[str, Any]:
        """The Resources section."""
        return self.section("Resources")

    @property
    def description(self) -> str | None:
        """The template's description."""
        return self.document.get("Description")


class _Loader(PlainLoader):
    """YAML as CloudFormation reads it: tags are functions, dates stay text, keys are unique."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise ValidationError(
                    f"Template format error: YAML not well-formed. (line {line}): "
                    f"duplicate key {key.value}"
                )
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


# `Version: 2012-10-17` is text for CloudFormation, not a date.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _function(loader: _Loader, tag: str, node: yaml.Node) -> dict[str, Any]:
    name = tag if tag in ("Ref", "Condition") else f"Fn::{tag}"
    argument: Any
    if isinstance(node, yaml.ScalarNode):
        argument = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        argument = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        argument = loader.construct_mapping(node, deep=True)
    return {name: argument}


_Loader.add_multi_constructor("!", _function)


def parse(body: str) -> Template:
    """Read a template.

    Args:
        body: JSON or YAML.

    Raises:
        ValidationError: it is neither, or not laid out as a template, in AWS's words.
    """
    document = _read(body)
    if not isinstance(document, dict):
        raise ValidationError("Template format error: unsupported structure.")
    if unknown := sorted(set(document) - _SECTIONS):
        raise ValidationError(
            f"Invalid template property or properties [{', '.join(map(str, unknown))}]"
        )
    _check_sections(document)
    _check_limits(document)
    for logical_id, resource in document["Resources"].items():
        _check_resource(logical_id, resource)
    for name, output in (document.get("Outputs") or {}).items():
        if not isinstance(output, dict) or "Value" not in output:
            raise ValidationError(
                f"Template format error: Output {name} is malformed. "
                "Every Outputs member must contain a Value object"
            )
    return Template(body=body, document=document)


def _read(body: str) -> Any:
    if body.lstrip().startswith("{"):
        try:
            return _long_forms(json.loads(body))
        except RecursionError as error:
            raise ValidationError("Template format error: JSON not well-formed.") from error
        except json.JSONDecodeError as error:
            raise ValidationError(
                f"Template format error: JSON not well-formed. (line {error.lineno}, "
                f"column {error.colno})"
            ) from error
    try:
        return _long_forms(yaml.load(body, Loader=_Loader))
    except RecursionError as error:
        raise ValidationError("Template format error: YAML not well-formed.") from error
    except AliasError as error:
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html
        raise ValidationError(
            "Template error: YAML aliases are not allowed in CloudFormation templates"
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValidationError(f"Template format error: YAML not well-formed.{where}") from error


def _long_forms(value: Any) -> Any:
    """`Fn::GetAtt: A.B` means the same as `Fn::GetAtt: [A, B]`."""
    if isinstance(value, list):
        return [_long_forms(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and isinstance(argument := value.get("Fn::GetAtt"), str):
        return {"Fn::GetAtt": argument.split(".", 1)}
    return {key: _long_forms(item) for key, item in value.items()}


def _check_sections(document: Mapping[str, Any]) -> None:
    if not document.get("Resources"):
        raise ValidationError(
            "Template format error: At least one Resources member must be defined."
        )
    for name in _SECTIONS - {"AWSTemplateFormatVersion", "Description", "Transform"}:
        if name in document and not isinstance(document[name], dict):
            raise ValidationError(f"Template format error: [/{name}] must be an object.")
    for name in ("Transform", "Hooks"):
        if name in document:
            raise ValidationError(
                f"Template error: the embedded AWS does not process {name}; "
                "submit the processed template"
            )


def _check_limits(document: Mapping[str, Any]) -> None:
    for section, most in _MOST.items():
        if (count := len(document.get(section) or {})) > most:
            raise ValidationError(
                f"Template format error: Number of {section.lower()}, {count}, is greater than "
                f"maximum allowed, {most}"
            )
    if len(str(document.get("Description", "")).encode()) > _DESCRIPTION_BYTES:
        raise ValidationError(
            f"Template format error: 'Description' length is greater than {_DESCRIPTION_BYTES}."
        )


def _check_resource(logical_id: str, resource: Any) -> None:
    if not (logical_id.isascii() and logical_id.isalnum()):
        raise ValidationError(
            f"Template format error: Resource name {logical_id} is non alphanumeric."
        )
    where = f"[/Resources/{logical_id}]"
    if not isinstance(resource, dict):
        raise ValidationError(f"Template format error: {where} resource definition is malformed")
    if not isinstance(resource.get("Type"), str):
        raise ValidationError(
            f"Template format error: {where} Every Resources object must contain a Type member."
        )
    if unknown := sorted(set(resource) - _ATTRIBUTES):
        raise ValidationError(
            f"Invalid template resource property '{unknown[0]}' of resource {logical_id}"
        )
    if not isinstance(resource.get("Properties", {}), dict):
        raise ValidationError(f"Template format error: {where} Properties must be an object")
