"""CloudFormation's API, the calls that change stacks."""

import re
import threading
from collections.abc import Mapping
from typing import Final
from uuid import uuid4

from moto.core.responses import ActionResult, EmptyResult
from moto.utilities.utils import get_partition

from trainshed.offline.cloudformation import operations
from trainshed.offline.cloudformation.capabilities import check_capabilities
from trainshed.offline.cloudformation.deployment import Deployment, prepare
from trainshed.offline.cloudformation.errors import (
    AlreadyExists,
    InvalidChangeSetStatus,
    ValidationError,
)
from trainshed.offline.cloudformation.execution import launch
from trainshed.offline.cloudformation.exports import exported_value
from trainshed.offline.cloudformation.policies import check_policies
from trainshed.offline.cloudformation.preview import Preview
from trainshed.offline.cloudformation.reading import Reading
from trainshed.offline.cloudformation.stack import ChangeSet, Stack, Store
from trainshed.offline.cloudformation.template import Template

_NAME: Final = re.compile(r"[a-zA-Z][-a-zA-Z0-9]{0,127}")
_NO_CHANGES: Final = (
    "The submitted information didn't contain changes. "
    "Submit different information to create a change set."
)
# What a stack can be updated from.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
_UPDATABLE: Final = frozenset(
    {
        "CREATE_COMPLETE",
        "CREATE_FAILED",
        "UPDATE_COMPLETE",
        "UPDATE_FAILED",
        "UPDATE_ROLLBACK_COMPLETE",
    }
)
# Refused, so that nobody believes in them. ImportExistingResources is not: `cdk bootstrap` sets
# it always, and a resource that exists already fails to be created, in so many words.
_UNSUPPORTED: Final = (
    "NotificationARNs",
    "ResourcesToImport",
    "StackPolicyBody",
    "StackPolicyURL",
)
# Two calls must not both find a stack idle.
_admission = threading.RLock()


class Writing(Reading):
    """Checks a request, answers it, and has the engine do the work."""

    def create_stack(self) -> ActionResult:
        """CreateStack."""
        on_failure = self._get_param("OnFailure") or (
            "DO_NOTHING" if self._get_param("DisableRollback") else "ROLLBACK"
        )
        store = self._store
        with _admission:
            name = self._new_name()
            if existing := store.find(name):
                raise AlreadyExists(f"Stack [{existing.name}] already exists")
            stack = self._new_stack(store, name)
            deployment = self._deployment(store, stack, self._submitted_template(), {})
            store.stacks[stack.stack_id] = stack
            stack.termination_protection = bool(self._get_param("EnableTerminationProtection"))
            stack.disable_rollback = on_failure == "DO_NOTHING"
        launch(
            stack,
            "CREATE_IN_PROGRESS",
            lambda: operations.create(store, stack, deployment, on_failure),
        )
        return ActionResult({"StackId": stack.stack_id})

    def update_stack(self) -> ActionResult:
        """UpdateStack."""
        store, stack = self._store, self._stack()
        disable_rollback = bool(self._get_param("DisableRollback"))
        with _admission:
            self._check_updatable(stack)
            deployment = self._next_deployment(store, stack)
            if Preview(stack, deployment).empty:
                raise ValidationError("No updates are to be performed.")
            self._note(stack)
            stack.status = "UPDATE_IN_PROGRESS"
        launch(
            stack,
            "UPDATE_IN_PROGRESS",
            lambda: operations.update(store, stack, deployment, disable_rollback=disable_rollback),
        )
        return ActionResult({"StackId": stack.stack_id})

    def delete_stack(self) -> ActionResult:
        """DeleteStack; deleting what is not there is a success, as on AWS."""
        store = self._store
        stack = store.find(self._get_param("StackName"))
        retain = tuple(self._get_param("RetainResources", []))
        force = self._get_param("DeletionMode") == "FORCE_DELETE_STACK"
        if stack is None or stack.deleted:
            return EmptyResult()
        with _admission:
            if stack.termination_protection:
                raise ValidationError(
                    f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
                )
            if retain and stack.status != "DELETE_FAILED":
                raise ValidationError(
                    f"Invalid operation on stack [{stack.name}]. When you delete a stack, specify "
                    "which resources to retain only when the stack is in the DELETE_FAILED state."
                )
            if stack.in_progress:
                raise _cannot(stack, "deleted")
            self._note(stack)
            stack.status = "DELETE_IN_PROGRESS"
        launch(
            stack,
            "DELETE_IN_PROGRESS",
            lambda: operations.delete(store, stack, retain=retain, force=force),
        )
        return EmptyResult()

    def create_change_set(self) -> ActionResult:
        """CreateChangeSet for a new stack or for an update."""
        kind = self._get_param("ChangeSetType", "UPDATE")
        if kind not in ("CREATE", "UPDATE"):
            raise ValidationError(f"the embedded AWS makes no change sets of type {kind}")
        store, name = self._store, self._get_param("ChangeSetName")
        if not _NAME.fullmatch(name):
            raise _bad_name(name, "changeSetName")
        with _admission:
            stack = self._stack_to_create() if kind == "CREATE" else self._stack_to_update()
            if any(it.stack is stack and it.name == name for it in store.change_sets.values()):
                raise AlreadyExists(
                    f"ChangeSet {name} cannot be created due to a mismatch with "
                    "existing attribute: it exists already"
                )
            deployment = self._next_deployment(store, stack)
            preview = Preview(stack, deployment)
            change_set = self._new_change_set(stack, kind, name, deployment, preview)
            if kind == "CREATE" and stack.stack_id not in store.stacks:
                stack.tell("REVIEW_IN_PROGRESS", "User Initiated")
                store.stacks[stack.stack_id] = stack
            store.change_sets[change_set.change_set_id] = change_set
        return ActionResult({"Id": change_set.change_set_id, "StackId": stack.stack_id})

    def execute_change_set(self) -> ActionResult:
        """ExecuteChangeSet."""
        store, change_set = self._store, self._change_set()
        stack, deployment = change_set.stack, change_set.deployment
        with _admission:
            if change_set.execution_status != "AVAILABLE" or deployment is None:
                raise InvalidChangeSetStatus(
                    f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current "
                    f"status of [{change_set.status}]"
                )
            if stack.in_progress:
                raise _cannot(stack, "updated")
            for other in store.change_sets.values():
                if other.stack is stack and other.execution_status == "AVAILABLE":
                    other.execution_status = "OBSOLETE"
            change_set.execution_status = "EXECUTE_IN_PROGRESS"
            self._note(stack)
            disable_rollback = bool(self._get_param("DisableRollback"))
            on_failure = change_set.on_failure or ("DO_NOTHING" if disable_rollback else "ROLLBACK")
            stack.disable_rollback = on_failure == "DO_NOTHING"
            creates = stack.status == "REVIEW_IN_PROGRESS"
            verb = "CREATE" if creates else "UPDATE"
            stack.status = f"{verb}_IN_PROGRESS"

        def work() -> None:
            if creates:
                operations.create(store, stack, deployment, on_failure)
            else:
                operations.update(
                    store, stack, deployment, disable_rollback=on_failure == "DO_NOTHING"
                )
            succeeded = stack.status == f"{verb}_COMPLETE"
            change_set.execution_status = "EXECUTE_COMPLETE" if succeeded else "EXECUTE_FAILED"

        launch(stack, f"{verb}_IN_PROGRESS", work)
        return EmptyResult()

    def delete_change_set(self) -> ActionResult:
        """DeleteChangeSet."""
        change_set = self._change_set()
        if change_set.execution_status == "EXECUTE_IN_PROGRESS":
            raise InvalidChangeSetStatus(
                f"ChangeSet [{change_set.change_set_id}] cannot be deleted while it is executed"
            )
        self._store.change_sets.pop(change_set.change_set_id, None)
        return EmptyResult()

    def rollback_stack(self) -> ActionResult:
        """RollbackStack: after a failure that was not rolled back."""
        stack = self._stack()
        with _admission:
            if stack.status not in ("CREATE_FAILED", "UPDATE_FAILED") or stack.stable is None:
                raise _cannot(stack, "rolled back")
            creation = stack.stable.deployment is None
            self._note(stack)
            stack.status = "ROLLBACK_IN_PROGRESS" if creation else "UPDATE_ROLLBACK_IN_PROGRESS"
        work = operations.roll_back_creation if creation else operations.roll_back_update
        launch(stack, None, lambda: work(stack, "User Initiated"))
        return ActionResult({"StackId": stack.stack_id})

    def continue_update_rollback(self) -> ActionResult:
        """ContinueUpdateRollback, skipping what is given up."""
        stack = self._stack()
        skip = tuple(self._get_param("ResourcesToSkip", []))
        with _admission:
            if stack.status != "UPDATE_ROLLBACK_FAILED":
                raise ValidationError(
                    f"Stack:{stack.stack_id} is in {stack.status} state and can not continue "
                    "rolling back."
                )
            self._note(stack)
            stack.status = "UPDATE_ROLLBACK_IN_PROGRESS"
        launch(stack, None, lambda: operations.roll_back_update(stack, "User Initiated", skip))
        return EmptyResult()

    def update_termination_protection(self) -> ActionResult:
        """UpdateTerminationProtection."""
        stack = self._stack()
        stack.termination_protection = bool(self._get_param("EnableTerminationProtection"))
        return ActionResult({"StackId": stack.stack_id})

    def _note(self, stack: Stack) -> None:
        """Remember what belongs to the operation that begins."""
        stack.token = self._get_param("ClientRequestToken")
        stack.role_arn = self._get_param("RoleARN") or stack.role_arn

    def _new_name(self) -> str:
        name: str = self._get_param("StackName")
        if not _NAME.fullmatch(name):
            raise _bad_name(name, "stackName")
        return name

    def _new_stack(self, store: Store, name: str) -> Stack:
        stack = Stack(
            stack_id=(
                f"arn:{get_partition(self.region)}:cloudformation:{self.region}:"
                f"{self.current_account}:stack/{name}/{uuid4()}"
            ),
            name=name,
            account=store.account,
            region=store.region,
            status="",
            timeout_minutes=self._get_param("TimeoutInMinutes"),
        )
        self._note(stack)
        return stack

    def _stack_to_create(self) -> Stack:
        """Return a new stack, or one that is still in review."""
        name = self._get_param("StackName")
        existing = self._store.find(name)
        if existing is None:
            return self._new_stack(self._store, self._new_name())
        if existing.status != "REVIEW_IN_PROGRESS":
            raise ValidationError(
                f"Stack [{existing.name}] already exists and cannot be created again with the "
                f"changeSet [{self._get_param('ChangeSetName')}]."
            )
        return existing

    def _stack_to_update(self) -> Stack:
        stack = self._store.find(name := self._get_param("StackName"))
        if stack is None or stack.deleted:
            raise ValidationError(f"Stack [{name}] does not exist")
        self._check_updatable(stack)
        return stack

    def _check_updatable(self, stack: Stack) -> None:
        if stack.status not in _UPDATABLE:
            raise _cannot(stack, "updated")

    def _next_deployment(self, store: Store, stack: Stack) -> Deployment:
        previous = stack.deployment
        if self._get_param("UsePreviousTemplate") and previous:
            template = previous.template
        else:
            template = self._submitted_template()
        given = (
            {name: parameter.given for name, parameter in previous.parameters.items()}
            if previous
            else {}
        )
        return self._deployment(store, stack, template, given)

    def _deployment(
        self, store: Store, stack: Stack, template: Template, previous: Mapping[str, str]
    ) -> Deployment:
        for name in _UNSUPPORTED:
            if self._get_param(name):
                raise ValidationError(f"the embedded AWS does not support {name}; leave it out")
        check_policies(template.resources)
        check_capabilities(template.resources, self._get_param("Capabilities", []))
        given = {
            parameter["ParameterKey"]: (
                previous.get(parameter["ParameterKey"], "")
                if parameter.get("UsePreviousValue")
                else parameter.get("ParameterValue", "")
            )
            for parameter in self._get_param("Parameters", [])
        }
        tags = self._get_param("Tags")
        kept = stack.tags if tags is None else {tag["Key"]: tag["Value"] for tag in tags}
        return prepare(
            template,
            given=given,
            tags=kept,
            stack_name=stack.name,
            stack_id=stack.stack_id,
            account=stack.account,
            region=stack.region,
            export=lambda name: exported_value(store, name),
        )

    def _new_change_set(
        self, stack: Stack, kind: str, name: str, deployment: Deployment, preview: Preview
    ) -> ChangeSet:
        nothing = kind == "UPDATE" and preview.empty
        return ChangeSet(
            change_set_id=(
                f"arn:{get_partition(self.region)}:cloudformation:{self.region}:"
                f"{self.current_account}:changeSet/{name}/{uuid4()}"
            ),
            name=name,
            kind=kind,
            stack=stack,
            deployment=deployment,
            changes=tuple(preview.changes),
            status="FAILED" if nothing else "CREATE_COMPLETE",
            reason=_NO_CHANGES if nothing else None,
            execution_status="UNAVAILABLE" if nothing else "AVAILABLE",
            description=self._get_param("Description"),
            on_failure=self._get_param("OnStackFailure"),
        )


def _cannot(stack: Stack, what: str) -> ValidationError:
    return ValidationError(
        f"Stack:{stack.stack_id} is in {stack.status} state and can not be {what}."
    )


def _bad_name(name: str, where: str) -> ValidationError:
    return ValidationError(
        f"1 validation error detected: Value '{name}' at '{where}' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"
    )
