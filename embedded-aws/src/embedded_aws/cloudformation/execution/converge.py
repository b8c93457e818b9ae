"""Bring a stack to its desired state: create, change or replace resources, in order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from embedded_aws.cloudformation.changes.comparison import compare, keeps_its_name, replaces
from embedded_aws.cloudformation.changes.desired_state import DesiredState
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.step import Step, StepFailed
from embedded_aws.cloudformation.failures import InvalidProperties
from embedded_aws.cloudformation.stack import Resource, Stack
from embedded_aws.cloudformation.support import is_custom
from embedded_aws.cloudformation.template.functions import evaluate
from embedded_aws.cloudformation.template.schema import is_taggable
from embedded_aws.cloudformation.values import value_of

_REPLACING = (
    "Requested update requires the creation of a new physical resource; hence creating one."
)


class ConvergeFailed(Exception):
    """The stack did not reach its desired state; the reason is in AWS's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What is about to happen to one resource.

    Attributes:
        before: the resource as it stands; None when it is to be created.
        after: the resource as desired; no properties yet when it is to be created.
        verb: CREATE or UPDATE, as in its events.
        replaces: it takes the place of `before`.
        refusal: why it cannot be done, when that is known already.
    """

    before: Resource | None
    after: Resource
    verb: str
    replaces: bool = False
    refusal: str | None = None


def converge(stack: Stack, deployment: DesiredState) -> None:
    """Create and change the stack's resources until they are what the deployment says.

    What is ready at the same time starts at the same time, as on AWS: when one fails, the others
    that started with it are cancelled. Removed and replaced resources stay; the replaced ones
    are added to the stack's leftovers.

    Raises:
        ConvergeFailed: a resource failed.
    """
    work = _Work(stack, deployment)
    waiting = list(deployment.order)
    while waiting:
        ready = [name for name in waiting if not deployment.dependencies[name] & set(waiting)]
        waiting = [name for name in waiting if name not in ready]
        tasks = [task for name in ready if (task := work.begin(name))]
        failed: dict[str, list[str]] = {}
        for task in tasks:
            done = work.cancel(task) if failed else work.run(task)
            if not done:
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

    def __init__(self, stack: Stack, deployment: DesiredState) -> None:
        self._stack = stack
        self._deployment = deployment
        self._step = Step(stack=stack)
        self._scope = deployment.scope(
            lambda logical_id, attribute: value_of(stack, logical_id, attribute)
        )

    def begin(self, logical_id: str) -> _Task | None:
        """Announce what happens to a resource; None when nothing does."""
        before = self._stack.resources.get(logical_id)
        after = self._wanted(logical_id)
        if before is None or not before.physical_id:
            after = self._store(self._step.tell(after, "CREATE_IN_PROGRESS"))
            return _Task(before=None, after=after, verb="CREATE")
        after = replace(after, physical_id=before.physical_id)
        try:
            after = replace(after, properties=self._properties(logical_id))
        except ValidationError as error:
            after = self._store(self._step.tell(before, "UPDATE_IN_PROGRESS"))
            return _Task(before=before, after=after, verb="UPDATE", refusal=error.message)
        changes = compare(
            after.resource_type, self._stack.region, before.properties, after.properties
        )
        retagged = before.tags != after.tags and is_taggable(
            after.resource_type, self._stack.region
        )
        if not changes and not retagged and before.status != "UPDATE_FAILED":
            # Policies and metadata belong to the stack alone.
            self._store(
                replace(before, definition=after.definition, dependencies=after.dependencies)
            )
            return None
        if not replaces(changes):
            after = self._store(self._step.tell(after, "UPDATE_IN_PROGRESS"))
            return _Task(before=before, after=after, verb="UPDATE")
        self._step.tell(after, "UPDATE_IN_PROGRESS", _REPLACING)
        refusal = None
        if keeps_its_name(before, after.properties, self._stack.region):
            refusal = _same_name(logical_id)
        return _Task(before=before, after=after, verb="UPDATE", replaces=True, refusal=refusal)

    def cancel(self, task: _Task) -> bool:
        """Tell that a resource had begun when another one failed; False, as for any failure."""
        what = "creation" if task.verb == "CREATE" else "update"
        self._refuse(task, f"Resource {what} cancelled")
        return False

    def run(self, task: _Task) -> bool:
        """Do it; False when it failed."""
        if task.refusal:
            self._refuse(task, task.refusal)
            return False
        try:
            if task.before is None:
                self._create(task.after)
            elif task.replaces:
                self._replace(task.before, task.after)
            else:
                self._update(task.before, task.after)
        except StepFailed as failure:
            not_made = task.replaces and not failure.resource.physical_id
            if task.before and (failure.untouched or not_made):
                self._store(
                    replace(
                        task.before,
                        status=failure.resource.status,
                        reason=failure.resource.reason,
                    )
                )
            return False
        return True

    def _refuse(self, task: _Task, reason: str) -> None:
        told = self._step.tell(task.after, f"{task.verb}_FAILED", reason)
        if task.before:
            told = replace(task.before, status=told.status, reason=reason)
        self._store(told)

    def _create(self, wanted: Resource) -> None:
        def evaluated() -> Resource:
            return replace(wanted, properties=self._properties(wanted.logical_id))

        self._step.create(self._step.attempt(wanted, "CREATE_FAILED", evaluated, harmless=True))

    def _update(self, before: Resource, wanted: Resource) -> None:
        updated = self._step.update(before, wanted)
        if is_custom(updated.resource_type) and updated.physical_id != before.physical_id:
            # The function made another resource; the old one is deleted when all is done.
            self._stack.leftovers.append(before)

    def _replace(self, before: Resource, wanted: Resource) -> None:
        made = self._step.create(replace(wanted, physical_id=""), "UPDATE")
        if made.physical_id == before.physical_id:
            # Some APIs answer a second creation with what exists.
            told = self._step.tell(made, "UPDATE_FAILED", _same_name(made.logical_id))
            raise StepFailed(self._store(told), untouched=False)
        self._stack.leftovers.append(before)

    def _wanted(self, logical_id: str) -> Resource:
        """What the template says of a resource, its properties not yet resolved."""
        definition = self._deployment.resources[logical_id]
        return Resource(
            logical_id=logical_id,
            resource_type=definition["Type"],
            definition={key: item for key, item in definition.items() if key != "Properties"},
            dependencies=self._deployment.dependencies[logical_id],
            tags=self._deployment.tags,
        )

    def _properties(self, logical_id: str) -> Any:
        properties = evaluate(
            self._deployment.resources[logical_id].get("Properties", {}), self._scope
        )
        if not isinstance(properties, dict):
            raise InvalidProperties(f"Properties of resource {logical_id} must be an object")
        return properties

    def _store(self, resource: Resource) -> Resource:
        self._stack.resources[resource.logical_id] = resource
        return resource


def _same_name(logical_id: str) -> str:
    return (
        "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
        f"Rename {logical_id} and update the stack again."
    )
