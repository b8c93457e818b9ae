"""The operations on a whole stack: create, update, roll back, delete."""

from collections.abc import Collection
from dataclasses import replace

from embedded_aws.cloudformation.changes.comparison import compare
from embedded_aws.cloudformation.changes.model import Changes
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.converge import ConvergeFailed, converge, failure_reason
from embedded_aws.cloudformation.execution.removal import remove
from embedded_aws.cloudformation.execution.step import Step, StepFailed
from embedded_aws.cloudformation.exports import check_exports, outputs_of
from embedded_aws.cloudformation.policy_names import DELETION, REPLACEMENT
from embedded_aws.cloudformation.records import Resource
from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.cloudformation.stack import Stable, Stack
from embedded_aws.cloudformation.store import Store

_SKIPPED = "Resource skipped during UpdateRollback"
_BY_USER = "User Initiated"


def create(store: Store, stack: Stack, changes: Changes, on_failure: str) -> None:
    """Create a stack.

    Args:
        store: the region's stacks.
        stack: the stack, without resources.
        changes: all additions.
        on_failure: ROLLBACK, DO_NOTHING or DELETE.
    """
    stack.record("CREATE_IN_PROGRESS", _BY_USER)
    stack.start(changes.desired, disable_rollback=on_failure == "DO_NOTHING")
    try:
        _converge_and_publish_outputs(store, stack, changes)
    except ConvergeFailed as failure:
        if on_failure == "DO_NOTHING" or stack.deletion_requested:
            stack.record("CREATE_FAILED", str(failure))
        elif on_failure == "DELETE":
            delete(store, stack, f"{failure} Delete requested by user.")
        else:
            roll_back_creation(stack, f"{failure} Rollback requested by user.")
    else:
        stack.complete("CREATE_COMPLETE")
    if stack.deletion_requested:
        delete(store, stack)


def update(store: Store, stack: Stack, changes: Changes, *, disable_rollback: bool) -> None:
    """Update a stack.

    Args:
        store: the region's stacks.
        stack: the stack.
        changes: what changes in it.
        disable_rollback: leave everything as it is when the update fails.
    """
    stack.record("UPDATE_IN_PROGRESS", _BY_USER)
    stack.start(changes.desired, disable_rollback=disable_rollback)
    assert stack.stable is not None
    try:
        _converge_and_publish_outputs(store, stack, changes)
    except ConvergeFailed as failure:
        if disable_rollback:
            stack.record("UPDATE_FAILED", str(failure))
        elif stack.stable.desired is None:
            roll_back_creation(stack, str(failure))
        else:
            roll_back_update(stack, str(failure))
        return
    stack.record("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    remove(stack, stack.leftovers, REPLACEMENT)
    wanted = changes.desired.resources
    removed = [it for name, it in stack.resources.items() if name not in wanted]
    remove(stack, removed, DELETION)
    for resource in removed:
        # As on AWS, the stack also forgets what it could not delete.
        stack.forget(resource)
    stack.complete("UPDATE_COMPLETE")


def _converge_and_publish_outputs(store: Store, stack: Stack, changes: Changes) -> None:
    before = stack.outputs
    converge(stack, changes)
    scope = changes.desired.scope(stack.value)
    try:
        stack.publish([output for output in outputs_of(changes.desired, scope) if output])
        check_exports(store, stack, before)
    except (ValidationError, HandlerError) as error:
        stack.publish(before)
        raise ConvergeFailed(str(error.args[0])) from error


def roll_back_creation(stack: Stack, reason: str = _BY_USER) -> None:
    """Delete what a creation made.

    Args:
        stack: a stack that was never completed.
        reason: for the event.
    """
    stack.record("ROLLBACK_IN_PROGRESS", reason)
    stack.publish(())
    made = [*stack.leftovers, *stack.resources.values()]
    if failed := remove(stack, made, DELETION, being_created=True):
        stack.record("ROLLBACK_FAILED", failure_reason({"DELETE": failed}))
        return
    stack.complete("ROLLBACK_COMPLETE")


def roll_back_update(stack: Stack, reason: str = _BY_USER, skip: Collection[str] = ()) -> None:
    """Bring a stack back to what it was before its update.

    Args:
        stack: a stack with a stable state to go back to.
        reason: for the event.
        skip: logical ids not to restore.
    """
    stable = stack.stable
    assert stable is not None and stable.desired is not None
    stack.record("UPDATE_ROLLBACK_IN_PROGRESS", reason)
    made = _made_since(stack, stable)
    failed = [
        name
        for name in stable.desired.order
        if name in stable.resources and not _restore(stack, stable.resources[name], name in skip)
    ]
    if failed:
        stack.record("UPDATE_ROLLBACK_FAILED", failure_reason({"UPDATE": failed}))
        return
    stack.record("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
    for name, resource in stack.resources.items():
        if name not in stable.resources and not resource.physical_id:
            stack.forget(resource)
    remove(stack, made, DELETION, being_created=True)
    stack.return_to_stable()
    stack.complete("UPDATE_ROLLBACK_COMPLETE")


def _made_since(stack: Stack, stable: Stable) -> list[Resource]:
    """Return the resources that exist now and did not in the stable state."""
    kept = {(it.logical_id, it.physical_id) for it in stable.resources.values()}
    return [
        resource
        for resource in [*stack.leftovers, *stack.resources.values()]
        if (resource.logical_id, resource.physical_id) not in kept
    ]


def _restore(stack: Stack, old: Resource, skip: bool) -> bool:
    """Bring one resource back to its old state; False when it failed."""
    current = stack.resources[old.logical_id]
    same_thing = current.physical_id == old.physical_id
    differs = compare(old.resource_type, stack.region, current.properties, old.properties)
    if not differs and same_thing and current.tags == old.tags:
        failed = current.status == "UPDATE_FAILED"
        stack.store(stack.record_resource(old, "UPDATE_COMPLETE") if failed else old)
        return True
    if skip:
        stack.store(stack.record_resource(old, "UPDATE_COMPLETE", _SKIPPED))
        return True
    stack.record_resource(old, "UPDATE_IN_PROGRESS")
    if not same_thing:
        stack.store(stack.record_resource(old, "UPDATE_COMPLETE"))
        return True
    try:
        Step(stack=stack).update(current, old)
    except StepFailed as failure:
        # It is still as the update left it.
        stack.store(replace(current, status=failure.resource.status))
        return False
    return True


def delete(
    store: Store,
    stack: Stack,
    reason: str = _BY_USER,
    *,
    retain: Collection[str] = (),
    force: bool = False,
) -> None:
    """Delete a stack.

    Args:
        store: the region's stacks.
        stack: the stack.
        reason: for the event.
        retain: logical ids to keep.
        force: delete the stack even if some resources cannot be deleted.
    """
    stack.record("DELETE_IN_PROGRESS", reason)
    before = stack.outputs
    stack.publish(())
    try:
        check_exports(store, stack, before)
    except ValidationError as error:
        stack.publish(before)
        stack.record("DELETE_FAILED", error.message)
        return
    everything = [*stack.leftovers, *stack.resources.values()]
    failed = remove(stack, everything, DELETION, retain=retain)
    if failed and not force:
        stack.record("DELETE_FAILED", failure_reason({"DELETE": failed}))
        return
    stack.complete("DELETE_COMPLETE")
    store.retire(stack)
