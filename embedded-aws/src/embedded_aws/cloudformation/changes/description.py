"""What a change set would do, as DescribeChangeSet shows it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from embedded_aws.cloudformation.changes.comparison import Change, Recreation, compare
from embedded_aws.cloudformation.changes.desired_state import DesiredState
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.exports import outputs_of
from embedded_aws.cloudformation.policies import DELETION, REPLACEMENT
from embedded_aws.cloudformation.stack import Resource, Stack
from embedded_aws.cloudformation.support import is_custom
from embedded_aws.cloudformation.template.functions import evaluate
from embedded_aws.cloudformation.template.schema import is_taggable
from embedded_aws.cloudformation.template.scope import Unknown
from embedded_aws.cloudformation.values import value_of


class Preview:
    """The changes that a deployment would make to a stack.

    Args:
        stack: as it is.
        deployment: its desired state.
    """

    def __init__(self, stack: Stack, deployment: DesiredState) -> None:
        self._stack = stack
        self._deployment = deployment
        self._new: set[str] = set()
        self._modified: set[str] = set()
        self._scope = deployment.scope(self._value)
        self.changes: Sequence[Mapping[str, Any]] = tuple(self._changes())

    @property
    def empty(self) -> bool:
        """Whether nothing at all would change, not even outputs or tags."""
        before = self._stack.deployment
        return (
            not self.changes
            and before is not None
            and before.tags == self._deployment.tags
            and self._stack.outputs == outputs_of(self._deployment, self._scope)
        )

    def _value(self, logical_id: str, attribute: str | None) -> Any:
        if logical_id in self._new:
            return Unknown(logical_id=logical_id, attribute=attribute)
        custom = is_custom(self._stack.resources[logical_id].resource_type)
        if logical_id in self._modified and (attribute is not None or custom):
            return Unknown(logical_id=logical_id, attribute=attribute)
        return value_of(self._stack, logical_id, attribute)

    def _changes(self) -> Iterator[Mapping[str, Any]]:
        for logical_id in self._deployment.order:
            before = self._stack.resources.get(logical_id)
            definition = self._deployment.resources[logical_id]
            if before is None or not before.physical_id:
                self._new.add(logical_id)
                yield _change("Add", logical_id, definition["Type"])
            elif modified := self._modification(before, definition):
                yield modified
        for logical_id, resource in self._stack.resources.items():
            if logical_id not in self._deployment.resources and resource.physical_id:
                yield _change(
                    "Remove",
                    logical_id,
                    resource.resource_type,
                    PhysicalResourceId=resource.physical_id,
                    PolicyAction=_action(resource.definition.get(DELETION)),
                )

    def _modification(
        self, before: Resource, definition: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        region, kind = self._stack.region, before.resource_type
        if definition["Type"] != kind:
            raise ValidationError(
                "Update of resource type is not permitted. The new template modifies resource "
                f"type of the following resources: [{before.logical_id}]"
            )
        after = evaluate(definition.get("Properties", {}), self._scope)
        changes = compare(kind, region, before.properties, after)
        details = [_detail(change) for change in changes]
        scope = {"Properties"} if changes else set()
        if before.tags != self._deployment.tags and is_taggable(kind, region):
            scope.add("Tags")
            details.append(_detail(Change(path=("Tags",), recreation=Recreation.NEVER)))
        for attribute in ("Metadata", DELETION, REPLACEMENT, "CreationPolicy", "UpdatePolicy"):
            if before.definition.get(attribute) != definition.get(attribute):
                scope.add(attribute)
                details.append(_attribute_detail(attribute))
        if not scope and before.status != "UPDATE_FAILED":
            return None
        replacement = _replacement(changes)
        (self._modified if replacement == "False" else self._new).add(before.logical_id)
        more: dict[str, Any] = {}
        if replacement != "False":
            more["PolicyAction"] = f"ReplaceAnd{_action(definition.get(REPLACEMENT))}"
        return _change(
            "Modify",
            before.logical_id,
            kind,
            PhysicalResourceId=before.physical_id,
            Replacement=replacement,
            Scope=sorted(scope),
            Details=details,
            **more,
        )


def _replacement(changes: Sequence[Change]) -> str:
    if any(it.recreation is Recreation.ALWAYS and not it.dynamic for it in changes):
        return "True"
    if any(it.recreation is not Recreation.NEVER for it in changes):
        return "Conditional"
    return "False"


def _action(policy: str | None) -> str:
    return "Retain" if policy in ("Retain", "RetainExceptOnCreate") else "Delete"


def _change(action: str, logical_id: str, resource_type: str, **more: Any) -> Mapping[str, Any]:
    change = {
        "Action": action,
        "LogicalResourceId": logical_id,
        "ResourceType": resource_type,
        "Scope": [],
        "Details": [],
        **more,
    }
    return {"Type": "Resource", "ResourceChange": change}


def _detail(change: Change) -> Mapping[str, Any]:
    return {
        "Target": {
            "Attribute": "Tags" if change.path == ("Tags",) else "Properties",
            "Name": change.path[0],
            "Path": "/".join(["", "Properties", *change.path]),
            "RequiresRecreation": str(change.recreation),
        },
        "Evaluation": "Dynamic" if change.dynamic else "Static",
        "ChangeSource": "ResourceReference" if change.dynamic else "DirectModification",
    }


def _attribute_detail(attribute: str) -> Mapping[str, Any]:
    return {
        "Target": {"Attribute": attribute, "RequiresRecreation": "Never"},
        "Evaluation": "Static",
        "ChangeSource": "DirectModification",
    }
