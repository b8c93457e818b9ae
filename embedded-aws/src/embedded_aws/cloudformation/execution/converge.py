"""Bring a stack to its desired state: create, change or replace resources, in order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from embedded_aws.cloudformation.changes.comparison import keeps_its_name
from embedded_aws.cloudformation.changes.model import Changes, Replacement, ResourceChange
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.step import Step, StepFailed
from embedded_aws.cloudformation.records import Resource
from embedded_aws.cloudformation.schema import is_custom
from embedded_aws.cloudformation.stack import Stack

_REPLACING = (
    "Requested update requires the creation of a new physical resource; hence creating one."
)


class ConvergeFailed(Exception):
    """The stack did not reach its desired state; the reason is in AWS's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A change that is announced and about to be made.

    Attributes:
        after: the resource as announced; no properties yet when it is to be created.
        refusal: why it cannot be done, when that is known already.
    """

    change: ResourceChange
    after: Resource
    refusal: str | None = None

    @property
    def verb(self) -> str:
        """CREATE or UPDATE, as in its events."""
        return "UPDATE" if self.change.before else "CREATE"


def converge(stack: Stack, changes: Changes) -> None:
    """Create and change the stack's resources as the changes say.

    What is ready at the same time starts at the same time, as on AWS: when one fails, the others
    that started with it are cancelled. Removed and replaced resources stay; the replaced ones
    are added to the stack's leftovers.

    Raises:
        ConvergeFailed: a resource failed.
    """
    work = _Work(stack, changes)
    desired = changes.desired
    waiting = list(desired.order)
    while waiting:
        ready = [name for name in waiting if not desired.dependencies[name] & set(waiting)]
        waiting = [name for name in waiting if name not in ready]
        tasks = [task for name in ready if (task := work.begin(name))]
        failed: dict[str, list[str]] = {}
        for task in tasks:
            done = work.cancel(task) if failed else work.run(task)
            if not done:
                failed.setdefault(task.verb, []).append(task.after.logical_id)
        for task in filter(work.waits, tasks):
            if not work.complete(task, cancelled=bool(failed)):
                failed.setdefault(task.verb, []).append(task.after.logical_id)
        if failed:
            raise ConvergeFailed(failure_reason(failed))


def failure_reason(failed: Mapping[str, list[str]]) -> str:
    """Say which resources failed.

    Args:
        failed: logical ids by what was tried: CREATE, UPDATE or DELETE.
    """
    return " ".join(
        f"The following resource(s) failed to {verb.lower()}: [{', '.join(names)}]."
        for verb, names in failed.items()
    )


class _Work:
    """One convergence."""

    def __init__(self, stack: Stack, changes: Changes) -> None:
        self._stack = stack
        self._changes = changes
        self._step = Step(stack=stack)
        self._scope = changes.desired.scope(stack.value)

    def begin(self, logical_id: str) -> _Task | None:
        """Announce what happens to a resource; None when nothing does."""
        stack = self._stack
        try:
            change = self._changes.resolve(logical_id, self._scope)
        except ValidationError as error:
            change = self._changes.resources[logical_id]
            assert change.before is not None
            begun = self._announce(change.before, "UPDATE")
            return _Task(change=change, after=begun, refusal=error.message)
        before, after = change.before, change.after
        assert after is not None
        if before is None:
            return _Task(change=change, after=self._announce(after, "CREATE"))
        if not change.calls_handler:
            # Policies and metadata belong to the stack alone.
            stack.store(
                replace(before, definition=after.definition, dependencies=after.dependencies)
            )
            return None
        # A conditional replacement, all values known, is tried in place: the API refuses what it
        # cannot do.
        if change.replacement is not Replacement.TRUE:
            return _Task(change=change, after=self._announce(after, "UPDATE"))
        stack.record_resource(after, "UPDATE_IN_PROGRESS", _REPLACING)
        kind, region = after.resource_type, stack.region
        same = keeps_its_name(kind, region, before.properties, after.properties)
        return _Task(change=change, after=after, refusal=_same_name(logical_id) if same else None)

    def cancel(self, task: _Task) -> bool:
        """Fail a resource that had begun when another one failed; False, as for any failure."""
        what = "creation" if task.verb == "CREATE" else "update"
        self._refuse(task, f"Resource {what} cancelled")
        return False

    def run(self, task: _Task) -> bool:
        """Make the change; return False when it failed."""
        if task.refusal:
            self._refuse(task, task.refusal)
            return False
        before = task.change.before
        replaces = task.change.replacement is Replacement.TRUE
        try:
            if before is None:
                self._create(task.after)
            elif replaces:
                self._replace(before, task.after)
            else:
                self._update(before, task.after)
        except StepFailed as failure:
            failed = failure.resource
            if before and (failure.untouched or (replaces and not failed.physical_id)):
                self._stack.store(replace(before, status=failed.status, reason=failed.reason))
            return False
        return True

    def waits(self, task: _Task) -> bool:
        """Return whether what was made waits for signals."""
        return task.after.logical_id in self._step.awaited

    def complete(self, task: _Task, *, cancelled: bool) -> bool:
        """Wait for the signals, unless another resource failed; return False when it failed."""
        try:
            if cancelled:
                raise self._step.cancel(task.after.logical_id)
            self._step.complete(task.after.logical_id)
        except StepFailed:
            return False
        return True

    def _announce(self, resource: Resource, verb: str) -> Resource:
        return self._stack.store(self._stack.record_resource(resource, f"{verb}_IN_PROGRESS"))

    def _refuse(self, task: _Task, reason: str) -> None:
        failed = self._stack.record_resource(task.after, f"{task.verb}_FAILED", reason)
        if before := task.change.before:
            failed = replace(before, status=failed.status, reason=reason)
        self._stack.store(failed)

    def _create(self, wanted: Resource) -> None:
        def evaluated() -> Resource:
            properties = self._changes.properties(wanted.logical_id, self._scope)
            return replace(wanted, properties=properties)

        self._step.create(self._step.attempt(wanted, "CREATE_FAILED", evaluated, harmless=True))

    def _update(self, before: Resource, wanted: Resource) -> None:
        updated = self._step.update(before, wanted)
        if is_custom(updated.resource_type) and updated.physical_id != before.physical_id:
            # The function made another resource; the old one is deleted when all is done.
            self._leave_over(before, wanted)

    def _replace(self, before: Resource, wanted: Resource) -> None:
        made = self._step.create(replace(wanted, physical_id=""), "UPDATE")
        if made.physical_id == before.physical_id:
            # Some APIs return the existing resource instead of creating another one.
            failed = self._stack.record_resource(made, "UPDATE_FAILED", _same_name(made.logical_id))
            raise StepFailed(self._stack.store(failed), untouched=False)
        self._leave_over(before, wanted)

    def _leave_over(self, before: Resource, wanted: Resource) -> None:
        """Leave the replaced resource to the clean-up, which follows the new template's policy."""
        self._stack.leave_over(replace(before, definition=wanted.definition))


def _same_name(logical_id: str) -> str:
    return (
        "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
        f"Rename {logical_id} and update the stack again."
    )
