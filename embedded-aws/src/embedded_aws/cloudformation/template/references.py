"""References between the parts of a template, and the order that follows from them."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.functions import function_in, variables


def references(value: Any) -> Iterator[tuple[str, str | None]]:
    """Yield every name that a value refers to, with the attribute when it asks for one.

    Raises:
        ValidationError: a reference is malformed.
    """
    if call := function_in(value):
        name, argument = call
        if name == "Ref":
            if not isinstance(argument, str):
                raise ValidationError(
                    "Template error: every Ref object must have a single String value."
                )
            yield argument, None
            return
        if name == "Fn::GetAtt":
            match argument:
                case [str(logical_id), attribute] if logical_id and attribute:
                    yield logical_id, attribute if isinstance(attribute, str) else ""
                    yield from references(attribute)
                    return
            raise ValidationError(
                "Template error: every Fn::GetAtt object requires two non-empty parameters, "
                "the resource name and the resource attribute"
            )
        if name == "Fn::Sub":
            yield from _substituted(argument)
            return
        yield from references(argument)
    elif isinstance(value, dict):
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def _substituted(argument: Any) -> Iterator[tuple[str, str | None]]:
    template, given = argument if isinstance(argument, list) else (argument, {})
    for name in variables(template):
        if name not in given:
            logical_id, _, attribute = name.partition(".")
            yield (logical_id, attribute or None) if "::" not in name else (name, None)
    yield from references(given)


def depends_on(resource: Mapping[str, Any]) -> list[str]:
    """Return a resource's explicit dependencies."""
    explicit = resource.get("DependsOn", [])
    return [explicit] if isinstance(explicit, str) else list(explicit)


def in_order(dependencies: Mapping[str, frozenset[str]]) -> Sequence[str]:
    """Sort resources so that each comes after what it depends on.

    Args:
        dependencies: what each resource depends on; names that are not keys are ignored. Its
            order decides between resources that could both come next.

    Raises:
        ValidationError: the dependencies are circular.
    """
    position = list(dependencies).index
    sorter = TopologicalSorter(
        {name: sorted(needs & dependencies.keys()) for name, needs in dependencies.items()}
    )
    try:
        sorter.prepare()
    except CycleError as error:
        circle = sorted(set(error.args[1]))
        raise ValidationError(
            f"Circular dependency between resources: [{', '.join(circle)}]"
        ) from error
    ordered: list[str] = []
    while ready := sorter.get_ready():
        sorter.done(*ready)
        ordered += sorted(ready, key=position)
    return ordered
