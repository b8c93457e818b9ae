"""CloudFormation's API, the calls about change sets that change something."""

from typing import Final
from uuid import uuid4

from moto.core.responses import ActionResult, EmptyResult
from moto.utilities.utils import get_partition

from embedded_aws.cloudformation.api import operations
from embedded_aws.cloudformation.api.submission import (
    NAME,
    Submission,
    admission,
    bad_name,
    cannot,
)
from embedded_aws.cloudformation.changes.description import Preview
from embedded_aws.cloudformation.changes.desired_state import DesiredState
from embedded_aws.cloudformation.errors import (
    AlreadyExists,
    ChangeSetNotFound,
    InvalidChangeSetStatus,
    ValidationError,
)
from embedded_aws.cloudformation.execution.runs import launch
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
        if not NAME.fullmatch(name):
            raise bad_name(name, "changeSetName")
        with admission:
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
                change_set.operation_id = stack.operation_id
                store.stacks[stack.stack_id] = stack
            store.change_sets[change_set.change_set_id] = change_set
        return ActionResult({"Id": change_set.change_set_id, "StackId": stack.stack_id})

    def execute_change_set(self) -> ActionResult:
        """ExecuteChangeSet."""
        store, change_set = self._store, self._change_set()
        stack, deployment = change_set.stack, change_set.deployment
        with admission:
            if change_set.execution_status != "AVAILABLE" or deployment is None:
                raise InvalidChangeSetStatus(
                    f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current "
                    f"status of [{change_set.status}]"
                )
            if stack.in_progress:
                raise cannot(stack, "updated")
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
        """DeleteChangeSet; one that is not there is deleted already, as on AWS."""
        name = self._get_param("StackName")
        if name and self._store.find(name) is None:
            raise ValidationError(f"Stack [{name}] does not exist")
        try:
            change_set = self._change_set()
        except ChangeSetNotFound:
            return EmptyResult()
        if change_set.execution_status == "EXECUTE_IN_PROGRESS":
            raise InvalidChangeSetStatus(
                f"ChangeSet [{change_set.change_set_id}] cannot be deleted while it is executed"
            )
        self._store.change_sets.pop(change_set.change_set_id, None)
        return EmptyResult()

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

    def _new_change_set(
        self, stack: Stack, kind: str, name: str, deployment: DesiredState, preview: Preview
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
