"""CloudFormation's API: creating, executing and deleting change sets."""

from typing import Final
from uuid import uuid4

from moto.core.responses import ActionResult, EmptyResult
from moto.utilities.utils import get_partition

from embedded_aws.actions import Refusal
from embedded_aws.cloudformation.api.submission import Submission, admission, cannot, check_name
from embedded_aws.cloudformation.changes.model import Changes
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution import operations
from embedded_aws.cloudformation.execution.runs import launch
from embedded_aws.cloudformation.exports import is_empty
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.store import ChangeSet

_NO_CHANGES: Final = (
    "The submitted information didn't contain changes. "
    "Submit different information to create a change set."
)


class ChangeSets(Submission):
    """Makes, executes and deletes change sets."""

    def create_change_set(self) -> ActionResult:
        """CreateChangeSet for a new stack or for an update."""
        kind = self._get_param("ChangeSetType", "UPDATE")
        if kind not in ("CREATE", "UPDATE"):
            raise ValidationError(f"the embedded AWS makes no change sets of type {kind}")
        store, name = self._store, self._get_param("ChangeSetName")
        check_name(name, "changeSetName")
        with admission:
            stack = self._stack_to_create() if kind == "CREATE" else self._stack_to_update()
            if any(it.name == name for it in store.change_sets_of(stack)):
                raise Refusal(
                    "AlreadyExistsException",
                    f"ChangeSet {name} cannot be created due to a mismatch with "
                    "existing attribute: it exists already",
                )
            change_set = self._new_change_set(stack, kind, name, self._changes(stack))
            if kind == "CREATE" and stack.stack_id not in store.stacks:
                stack.record("REVIEW_IN_PROGRESS", "User Initiated")
                change_set.operation_id = stack.operation_id
                store.add(stack)
            store.change_sets[change_set.change_set_id] = change_set
        return ActionResult({"Id": change_set.change_set_id, "StackId": stack.stack_id})

    def execute_change_set(self) -> ActionResult:
        """ExecuteChangeSet."""
        store, change_set = self._store, self._change_set()
        stack, changes = change_set.stack, change_set.changes
        with admission:
            if change_set.execution_status != "AVAILABLE":
                raise Refusal(
                    "InvalidChangeSetStatus",
                    f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current "
                    f"status of [{change_set.status}]",
                )
            if stack.in_progress:
                raise cannot(stack, "updated")
            verb = "CREATE" if stack.status == "REVIEW_IN_PROGRESS" else "UPDATE"
            self._begin(stack, f"{verb}_IN_PROGRESS")
            change_set.execution_status = "EXECUTE_IN_PROGRESS"
        kept = "DO_NOTHING" if self._get_param("DisableRollback") else "ROLLBACK"
        on_failure = change_set.on_failure or kept

        def work() -> None:
            if verb == "CREATE":
                operations.create(store, stack, changes, on_failure)
            else:
                operations.update(
                    store, stack, changes, disable_rollback=on_failure == "DO_NOTHING"
                )
            succeeded = stack.status == f"{verb}_COMPLETE"
            change_set.execution_status = "EXECUTE_COMPLETE" if succeeded else "EXECUTE_FAILED"

        launch(stack, work)
        return EmptyResult()

    def delete_change_set(self) -> ActionResult:
        """DeleteChangeSet; like AWS it succeeds if there is no such change set."""
        name = self._get_param("StackName")
        if name and self._store.find(name) is None:
            raise ValidationError(f"Stack [{name}] does not exist")
        try:
            change_set = self._change_set()
        except Refusal:
            return EmptyResult()
        if change_set.execution_status == "EXECUTE_IN_PROGRESS":
            raise Refusal(
                "InvalidChangeSetStatus",
                f"ChangeSet [{change_set.change_set_id}] cannot be deleted while it is executed",
            )
        self._store.change_sets.pop(change_set.change_set_id, None)
        return EmptyResult()

    def _stack_to_create(self) -> Stack:
        """Return a new stack, or one that is still in review."""
        name = self._get_param("StackName")
        existing = self._store.find(name)
        if existing is None:
            return self._new_stack(self._new_name())
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

    def _new_change_set(self, stack: Stack, kind: str, name: str, changes: Changes) -> ChangeSet:
        nothing = kind == "UPDATE" and is_empty(stack, changes)
        return ChangeSet(
            change_set_id=(
                f"arn:{get_partition(self.region)}:cloudformation:{self.region}:"
                f"{self.current_account}:changeSet/{name}/{uuid4()}"
            ),
            name=name,
            kind=kind,
            stack=stack,
            changes=changes,
            status="FAILED" if nothing else "CREATE_COMPLETE",
            reason=_NO_CHANGES if nothing else None,
            execution_status="UNAVAILABLE" if nothing else "AVAILABLE",
            description=self._get_param("Description"),
            on_failure=self._get_param("OnStackFailure"),
        )
