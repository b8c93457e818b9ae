"""What can be done to a whole stack: create, update, roll back, delete."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

from embedded_aws.cloudformation.changes.desired_state import DesiredState
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.converge import ConvergeFailed, converge, failure_reason
from embedded_aws.cloudformation.execution.removal import remove
from embedded_aws.cloudformation.execution.step import Step, StepFailed
from embedded_aws.cloudformation.exports import check_exports, outputs_of
from embedded_aws.cloudformation.policies import DELETION, REPLACEMENT
from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.cloudformation.stack import Resource, Stable, Stack
from embedded_aws.cloudformation.store import Store
from embedded_aws.cloudformation.values import value_of

_SKIPPED = "Resource skipped during UpdateRollback"


def create(store: Store, stack: Stack, deployment: DesiredState, on_failure: str) -> None:
    """Create a stack whose CREATE_IN_PROGRESS has been told.

    Args:
        store: the region's stacks.
        stack: the stack, without resources.
        deployment: its desired state.
        on_failure: ROLLBACK, DO_NOTHING or DELETE.
    """
    stack.deployment = deployment
    stack.stable = Stable(deployment=None, resources={}, outputs=())
    try:
        _converge_and_publish_outputs(store, stack, deployment)
    except ConvergeFailed as failure:
        if on_failure == "DO_NOTHING":
            stack.tell("CREATE_FAILED", str(failure))
        elif on_failure == "DELETE":
            stack.tell("DELETE_IN_PROGRESS", f"{failure} Delete requested by user.")
            delete(store, stack)
        else:
            roll_back_creation(stack, f"{failure} Rollback requested by user.")
    else:
        stack.stable = None
        stack.tell("CREATE_COMPLETE")


def update(store: Store, stack: Stack, deployment: DesiredState, *, disable_rollback: bool) -> None:
    """Update a stack whose UPDATE_IN_PROGRESS has been told.

    Args:
        store: the region's stacks.
        stack: the stack.
        deployment: its desired state.
        disable_rollback: leave everything as it is when the update fails.
    """
    if stack.stable is None:
        stack.stable = Stable(
            deployment=stack.deployment,
            resources=dict(stack.resources),
            outputs=stack.outputs,
        )
    stack.deployment = deployment
    stack.updated = datetime.now(UTC)
    try:
        _converge_and_publish_outputs(store, stack, deployment)
    except ConvergeFailed as failure:
        if disable_rollback:
            stack.tell("UPDATE_FAILED", str(failure))
        elif stack.stable.deployment is None:
            roll_back_creation(stack, str(failure))
        else:
            roll_back_update(stack, str(failure))
        return
    stack.tell("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    remove(stack, stack.leftovers, REPLACEMENT)
    removed = [it for name, it in stack.resources.items() if name not in deployment.resources]
    remove(stack, removed, DELETION)
    for resource in removed:
        # As on AWS, the stack lets go even of what it could not delete.
        stack.forget(resource)
    stack.leftovers.clear()
    stack.stable = None
    stack.tell("UPDATE_COMPLETE")


def _converge_and_publish_outputs(store: Store, stack: Stack, deployment: DesiredState) -> None:
    """Converge, then publish the outputs."""
    before = stack.outputs
    converge(stack, deployment)
    scope = deployment.scope(lambda logical_id, attribute: value_of(stack, logical_id, attribute))
    try:
        stack.outputs = tuple(output for output in outputs_of(deployment, scope) if output)
        check_exports(store, stack, before)
    except (ValidationError, HandlerError) as error:
        stack.outputs = before
        raise ConvergeFailed(str(error.args[0])) from error


def roll_back_creation(stack: Stack, reason: str | None) -> None:
    """Delete what a creation made.

    Args:
        stack: a stack that never was complete.
        reason: for the event.
    """
    stack.tell("ROLLBACK_IN_PROGRESS", reason)
    stack.outputs = ()
    made = [*stack.leftovers, *stack.resources.values()]
    if failed := remove(stack, made, DELETION, being_created=True):
        stack.tell("ROLLBACK_FAILED", failure_reason({"DELETE": failed}))
        return
    stack.leftovers.clear()
    stack.tell("ROLLBACK_COMPLETE")


def roll_back_update(stack: Stack, reason: str | None, skip: Collection[str] = ()) -> None:
    """Bring a stack back to what it was before its update.

    Args:
        stack: a stack with a stable state to go back to.
        reason: for the event.
        skip: logical ids whose restoring is given up.
    """
    stable = stack.stable
    assert stable is not None and stable.deployment is not None
    stack.tell("UPDATE_ROLLBACK_IN_PROGRESS", reason)
    made = _made_since(stack, stable)
    failed = [
        name
        for name in stable.deployment.order
        if name in stable.resources and not _restore(stack, stable.resources[name], name in skip)
    ]
    if failed:
        stack.tell("UPDATE_ROLLBACK_FAILED", failure_reason({"UPDATE": failed}))
        return
    stack.tell("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
    for name in [name for name in stack.resources if name not in stable.resources]:
        if not stack.resources[name].physical_id:
            del stack.resources[name]
    remove(stack, made, DELETION, being_created=True)
    stack.deployment, stack.outputs = stable.deployment, stable.outputs
    stack.leftovers.clear()
    stack.stable = None
    stack.tell("UPDATE_ROLLBACK_COMPLETE")


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
    step = Step(stack=stack)
    current = stack.resources[old.logical_id]
    same_thing = current.physical_id == old.physical_id
    if current.properties == old.properties and same_thing and current.tags == old.tags:
        failed = current.status == "UPDATE_FAILED"
        stack.resources[old.logical_id] = step.tell(old, "UPDATE_COMPLETE") if failed else old
        return True
    if skip:
        stack.resources[old.logical_id] = step.tell(old, "UPDATE_COMPLETE", _SKIPPED)
        return True
    step.tell(old, "UPDATE_IN_PROGRESS")
    if not same_thing:
        stack.resources[old.logical_id] = step.tell(old, "UPDATE_COMPLETE")
        return True
    try:
        step.update(current, old)
    except StepFailed as failure:
        # It is still as the update left it.
        stack.resources[old.logical_id] = replace(current, status=failure.resource.status)
        return False
    return True


def delete(
    store: Store, stack: Stack, *, retain: Collection[str] = (), force: bool = False
) -> None:
    """Delete a stack whose DELETE_IN_PROGRESS has been told.

    Args:
        store: the region's stacks.
        stack: the stack.
        retain: logical ids to keep.
        force: keep what cannot be deleted, and be rid of the stack.
    """
    before, stack.outputs = stack.outputs, ()
    try:
        check_exports(store, stack, before)
    except ValidationError as error:
        stack.outputs = before
        stack.tell("DELETE_FAILED", error.message)
        return
    everything = [*stack.leftovers, *stack.resources.values()]
    failed = remove(stack, everything, DELETION, retain=retain)
    if failed and not force:
        stack.tell("DELETE_FAILED", failure_reason({"DELETE": failed}))
        return
    stack.leftovers.clear()
    stack.deleted = datetime.now(UTC)
    stack.tell("DELETE_COMPLETE")
    store.deleted[stack.stack_id] = stack
    store.stacks.pop(stack.stack_id, None)
