"""Outputs of a stack, and exports to the other stacks of its region."""

from collections.abc import Sequence

from embedded_aws.cloudformation.changes.model import Changes
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.records import Output
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.store import Store
from embedded_aws.cloudformation.template.desired_state import DesiredState
from embedded_aws.cloudformation.template.functions import evaluate
from embedded_aws.cloudformation.template.scope import Scope, Unknown, text


def outputs_of(desired: DesiredState, scope: Scope) -> tuple[Output | None, ...]:
    """Evaluate the outputs of a desired state; None for one that depends on an unknown value.

    Args:
        desired: the stack's desired state.
        scope: answers references to resources.

    Raises:
        ValidationError: an output is not text.
    """
    return tuple(_output(name, declared, scope) for name, declared in desired.outputs.items())


def is_empty(stack: Stack, changes: Changes) -> bool:
    """Return whether nothing would change, neither resources nor outputs nor tags."""
    before, desired = stack.desired, changes.desired
    return (
        not any(changes)
        and before is not None
        and before.tags == desired.tags
        and tuple(stack.outputs) == outputs_of(desired, changes.scope)
    )


def _output(name: str, declared: object, scope: Scope) -> Output | None:
    evaluated = evaluate(declared, scope)
    value, export = text(evaluated["Value"]), evaluated.get("Export")
    exported = text(export.get("Name")) if isinstance(export, dict) else None
    if isinstance(value, Unknown) or isinstance(exported, Unknown):
        return None
    if not isinstance(value, str):
        raise ValidationError(
            f"Template format error: Output {name} is malformed. The Value field of every "
            "Outputs member must evaluate to a String."
        )
    return Output(name=name, value=value, description=evaluated.get("Description"), export=exported)


def check_exports(store: Store, stack: Stack, before: Sequence[Output]) -> None:
    """Refuse exports that another stack has, and changes of exports that are in use.

    Args:
        store: the region's stacks.
        stack: with its new outputs; without any when it is being deleted.
        before: its outputs before the operation.

    Raises:
        ValidationError: in AWS's words.
    """
    mine = {output.export: output.value for output in stack.outputs if output.export}
    for other, output in store.exports():
        if other is not stack and output.export in mine:
            raise ValidationError(
                f"Export with name {output.export} is already exported by stack {other.name}."
            )
    for output in before:
        if output.export is None or mine.get(output.export) == output.value:
            continue
        users = [other.name for other in store.importers(output.export) if other is not stack]
        if users and output.export not in mine:
            raise ValidationError(
                f"Cannot delete export {output.export} as it is in use by {', '.join(users)}."
            )
        if users:
            raise ValidationError(
                f"Export {output.export} cannot be updated as it is in use by {', '.join(users)}"
            )


def exported_value(store: Store, name: str) -> str:
    """Return the value of an export of the region.

    Raises:
        ValidationError: there is no such export.
    """
    for _, output in store.exports():
        if output.export == name:
            return output.value
    raise ValidationError(f"No export named {name} found.")
