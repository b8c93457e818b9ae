"""What CloudFormation makes before a resource."""

import re
from collections.abc import Iterator

from trainshed.documents.yaml import Value
from trainshed.lint.conditions import functions_in, names_in
from trainshed.lint.template import Template

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9]+)[^{}]*\}")


def made_before(template: Template, logical_id: str) -> set[str]:
    """Return the logical ids of the resources that a resource waits for, directly or not."""
    definitions = template.scope.sections["Resources"]
    seen: set[str] = set()
    waiting = [logical_id]
    while waiting:
        for name in _named(definitions.get(waiting.pop())):
            if name in template.resources and name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def _named(definition: Value) -> Iterator[str]:
    if not isinstance(definition, dict):
        return
    depends = definition.get("DependsOn")
    yield from (str(name) for name in (depends if isinstance(depends, list) else [depends]))
    properties = definition.get("Properties")
    yield from names_in(properties, "Ref")
    for argument, _ in functions_in(properties, "Fn::GetAtt", ()):
        parts = argument.split(".") if isinstance(argument, str) else argument
        if isinstance(parts, list) and parts:
            yield str(parts[0])
    for argument, _ in functions_in(properties, "Fn::Sub", ()):
        text = argument[0] if isinstance(argument, list) and argument else argument
        yield from _VARIABLE.findall(text) if isinstance(text, str) else ()
