"""What an operation does to each resource of a stack.

Worked out once: a change set describes it, the execution follows it. Where a value is known only
after another resource has changed, the execution asks again, by the same comparison.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from embedded_aws.cloudformation.changes.comparison import PropertyChange, Recreation, compare
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.failures import InvalidProperties
from embedded_aws.cloudformation.policies import is_retained
from embedded_aws.cloudformation.policy_names import DELETION, POLICIES, REPLACEMENT
from embedded_aws.cloudformation.records import Resource
from embedded_aws.cloudformation.schema import is_custom, schema_of
from embedded_aws.cloudformation.stack import STACK_TYPE, Stack
from embedded_aws.cloudformation.template.desired_state import DesiredState
from embedded_aws.cloudformation.template.functions import evaluate, function_in
from embedded_aws.cloudformation.template.references import references
from embedded_aws.cloudformation.template.scope import Scope, Unknown

_ATTRIBUTES: Final = ("Metadata", *POLICIES)


class Replacement(StrEnum):
    """Whether another resource takes the place of the present one."""

    FALSE = "False"
    CONDITIONAL = "Conditional"
    TRUE = "True"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """What happens to one resource.

    Attributes:
        before: the resource as it is; None when it is added.
        after: the resource as desired; None when it is removed. The properties of one that is
            added are resolved when it is created.
        properties: its properties that change.
        attributes: what else changes: `Tags`, or attributes that belong to the stack alone.
        automatic: it is a nested stack, whose own template may have changed.
    """

    before: Resource | None
    after: Resource | None
    properties: Sequence[PropertyChange] = ()
    attributes: Sequence[str] = ()
    automatic: bool = False

    @property
    def action(self) -> str | None:
        """Add, Modify, Remove; None when nothing changes."""
        if self.before is None:
            return "Add"
        if self.after is None:
            return "Remove"
        return "Modify" if self.attributes or self.calls_handler else None

    @property
    def replacement(self) -> Replacement:
        """What the change with the most impact asks for."""
        if any(it.recreation is Recreation.ALWAYS and not it.dynamic for it in self.properties):
            return Replacement.TRUE
        if any(it.recreation is not Recreation.NEVER for it in self.properties):
            return Replacement.CONDITIONAL
        return Replacement.FALSE

    @property
    def calls_handler(self) -> bool:
        """Whether the resource itself changes; else only what the stack knows of it."""
        failed = self.before is not None and self.before.status == "UPDATE_FAILED"
        return bool(self.properties or "Tags" in self.attributes or self.automatic or failed)

    @property
    def unresolved(self) -> bool:
        """Whether a value is known only when the change is executed."""
        return any(it.unknown for it in self.properties)

    @property
    def retains(self) -> bool:
        """Whether a resource that the stack gives up goes on existing, by its policy."""
        if self.after is None:
            return self.before is not None and is_retained(self.before, DELETION)
        return is_retained(self.after, REPLACEMENT)

    def makes_unknown(self, attribute: str | None) -> bool:
        """Return whether `Ref` (attribute None) or an attribute may change with the resource."""
        if self.before is None or self.replacement is not Replacement.FALSE:
            return True
        # A custom resource's function may answer with another physical id.
        answers = attribute is not None or is_custom(self.before.resource_type)
        return self.calls_handler and answers


class Changes:
    """Everything that changes between a stack as it is and its desired state.

    Attributes:
        desired: the desired state.
        scope: in which what is not known yet is `Unknown`.
        resources: one change for each resource that the stack has or is to have, by logical id.

    Raises:
        ValidationError: a resource would change its type.
    """

    def __init__(self, stack: Stack, desired: DesiredState) -> None:
        self.desired = desired
        self.scope = desired.scope(self._value)
        self._stack = stack
        self._refuse_other_types()
        before = stack.desired.names if stack.desired else {}
        self._parameters = {
            name for name in desired.parameters if before.get(name) != desired.names[name]
        }
        self.resources: dict[str, ResourceChange] = {}
        for logical_id in desired.order:
            self.resources[logical_id] = self._change(logical_id, self.scope)
        for logical_id, resource in stack.resources.items():
            if logical_id not in desired.resources and resource.physical_id:
                self.resources[logical_id] = ResourceChange(before=resource, after=None)

    def resolve(self, logical_id: str, scope: Scope) -> ResourceChange:
        """Return the change of a resource with what is known by now.

        Raises:
            ValidationError: a value cannot be worked out.
        """
        change = self.resources[logical_id]
        return self._change(logical_id, scope) if change.unresolved else change

    def properties(self, logical_id: str, scope: Scope) -> dict[str, Any]:
        """Return the properties that a resource is to have.

        Raises:
            ValidationError: a value cannot be worked out.
        """
        properties = evaluate(self.desired.resources[logical_id].get("Properties", {}), scope)
        if not isinstance(properties, dict):
            raise InvalidProperties(f"Properties of resource {logical_id} must be an object")
        return properties

    def _change(self, logical_id: str, scope: Scope) -> ResourceChange:
        definition = self.desired.resources[logical_id]
        before = self._stack.resources.get(logical_id)
        after = Resource(
            logical_id=logical_id,
            resource_type=definition["Type"],
            definition={key: item for key, item in definition.items() if key != "Properties"},
            dependencies=self.desired.dependencies[logical_id],
            tags=self.desired.tags,
        )
        if before is None or not before.physical_id:
            return ResourceChange(before=None, after=after)
        after = replace(
            after,
            physical_id=before.physical_id,
            properties=self.properties(logical_id, scope),
        )
        region = self._stack.region
        found = compare(after.resource_type, region, before.properties, after.properties)
        changes = [
            replace(it, parameters=self._causing(definition.get("Properties", {}), it))
            for it in found
        ]
        attributes = [
            name for name in _ATTRIBUTES if before.definition.get(name) != definition.get(name)
        ]
        schema = schema_of(after.resource_type, region)
        if before.tags != after.tags and schema and schema.taggable:
            attributes.append("Tags")
        return ResourceChange(
            before=before,
            after=after,
            properties=changes,
            attributes=attributes,
            automatic=after.resource_type == STACK_TYPE and not changes,
        )

    def _causing(self, written: Any, change: PropertyChange) -> tuple[str, ...]:
        """The changed parameters to which a changed property, as it is written, refers."""
        for step in change.path:
            if function_in(written) or not isinstance(written, Mapping):
                break
            written = written.get(step)
        used = (name for name, _ in references(written) if name in self._parameters)
        return tuple(dict.fromkeys(used))

    def _value(self, logical_id: str, attribute: str | None) -> Any:
        if self.resources[logical_id].makes_unknown(attribute):
            return Unknown(logical_id=logical_id, attribute=attribute)
        return self._stack.value(logical_id, attribute)

    def _refuse_other_types(self) -> None:
        moved = [
            name
            for name, definition in self.desired.resources.items()
            if (it := self._stack.resources.get(name)) and it.physical_id
            if it.resource_type != definition["Type"]
        ]
        if moved:
            raise ValidationError(
                "Update of resource type is not permitted. The new template modifies resource "
                f"type of the following resources: [{', '.join(moved)}]"
            )

    def __iter__(self) -> Iterator[ResourceChange]:
        """Yield the changes that are one, in the order in which they are executed."""
        return (change for change in self.resources.values() if change.action)
