"""The resources of a cloud assembly, and which of them waits for which.

CloudFormation user guide, "DependsOn attribute": a resource waits for what its DependsOn, Ref,
Fn::GetAtt and Fn::Sub name. Fn::ImportValue waits for the resource behind the export.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed.deployment.times import ObservedTime, observed_time

# A stack and a logical id.
Address = tuple[str, str]
_VARIABLE = re.compile(r"\$\{([^!${}.]+)[^${}]*\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource of a template.

    Attributes:
        stack: name of its stack.
        logical_id: its name in the template.
        name: its path in the stack's constructs, or its logical id.
        type: CloudFormation's name of its type.
        time: how long AWS was seen to take to make such a one; None when nobody has published it.
        waits_for: the resources that must be there first, also those of other stacks.
    """

    stack: str
    logical_id: str
    name: str
    type: str
    time: ObservedTime | None
    waits_for: frozenset[Address]

    @property
    def address(self) -> Address:
        """The stack and the logical id."""
        return self.stack, self.logical_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGraph:
    """The resources of a cloud assembly, and the order of its stacks.

    Attributes:
        resources: by stack and logical id.
        stack_order: the stacks that each stack comes after, by name.
    """

    resources: Mapping[Address, Resource]
    stack_order: Mapping[str, frozenset[str]]

    def of(self, stack: str) -> tuple[Resource, ...]:
        """Return the resources of a stack."""
        return tuple(found for found in self.resources.values() if found.stack == stack)

    def all_before(self, stack: str) -> frozenset[str]:
        """Return the stacks that a stack comes after, over any number of steps."""
        before = self.stack_order[stack]
        return before.union(*(self.all_before(name) for name in before))

    def waiting(self, stack: str, other: str) -> tuple[tuple[Resource, Resource], ...]:
        """Return the resources of a stack that wait for one of another, over any number of steps.

        The order of the stacks does not count here.
        """
        pairs = []
        for resource in self.of(stack):
            for address in self._all_waited_for(resource):
                if address[0] == other:
                    pairs.append((resource, self.resources[address]))
        return tuple(pairs)

    def _all_waited_for(self, resource: Resource) -> set[Address]:
        found: set[Address] = set()
        open_ones = [*resource.waits_for]
        while open_ones:
            address = open_ones.pop()
            if address not in found:
                found.add(address)
                open_ones += self.resources[address].waits_for
        return found


def read_graph(folder: Path) -> ResourceGraph:
    """Read the cloud assembly in a folder, its stages too."""
    templates: dict[str, Mapping[str, Any]] = {}
    order: dict[str, frozenset[str]] = {}
    for manifest in sorted(folder.rglob("manifest.json")):
        artifacts = json.loads(manifest.read_text(encoding="utf-8"))["artifacts"]
        # Artifacts name each other by their own ids, and stacks may have other names.
        names = {
            key: artifact["properties"].get("stackName", key)
            for key, artifact in artifacts.items()
            if artifact["type"] == "aws:cloudformation:stack"
        }
        for key, name in names.items():
            file = manifest.parent / artifacts[key]["properties"]["templateFile"]
            templates[name] = json.loads(file.read_text(encoding="utf-8"))
            before = artifacts[key].get("dependencies", [])
            order[name] = frozenset(names[other] for other in before if other in names)
    exports = {
        export: (stack, logical_id)
        for stack, template in templates.items()
        for export, logical_id in _exports(template)
    }
    resources = {
        (stack, logical_id): _resource(stack, logical_id, templates[stack], exports)
        for stack, template in templates.items()
        for logical_id in template.get("Resources", {})
    }
    return ResourceGraph(resources=resources, stack_order=order)


def _exports(template: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name of each export, with the resources behind it."""
    for output in template.get("Outputs", {}).values():
        name = output.get("Export", {}).get("Name")
        if isinstance(name, str):
            for logical_id in _named(output["Value"]):
                if logical_id in template.get("Resources", {}):
                    yield name, logical_id


def _resource(
    stack: str, logical_id: str, template: Mapping[str, Any], exports: Mapping[str, Address]
) -> Resource:
    resources = template["Resources"]
    record = resources[logical_id]
    properties = record.get("Properties", {})
    after = record.get("DependsOn", [])
    named = {*_named(properties), *([after] if isinstance(after, str) else after)}
    imported = {exports[name] for name in _imported(properties) if name in exports}
    path = record.get("Metadata", {}).get("aws:cdk:path", logical_id)
    return Resource(
        stack=stack,
        logical_id=logical_id,
        name=path.removeprefix(f"{stack}/").removesuffix("/Resource"),
        type=record["Type"],
        time=observed_time(record["Type"], properties),
        waits_for=frozenset({(stack, name) for name in named if name in resources} | imported),
    )


def _named(value: object) -> Iterator[str]:
    """Yield the logical ids, and parameters, that a value names."""
    match value:
        case {"Ref": str(name), **others} if not others:
            yield name
        case {"Fn::GetAtt": [str(name), *_], **others} if not others:
            yield name
        case {"Fn::GetAtt": str(attribute), **others} if not others:
            yield attribute.partition(".")[0]
        case {"Fn::Sub": str(text), **others} if not others:
            yield from _VARIABLE.findall(text)
        case {"Fn::Sub": [str(text), dict(variables)], **others} if not others:
            yield from (name for name in _VARIABLE.findall(text) if name not in variables)
            yield from _named(variables)
        case dict():
            for entry in value.values():
                yield from _named(entry)
        case list():
            for entry in value:
                yield from _named(entry)


def _imported(value: object) -> Iterator[str]:
    match value:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case dict():
            for entry in value.values():
                yield from _imported(entry)
        case list():
            for entry in value:
                yield from _imported(entry)
