"""CloudFormation's API: the calls that change stacks."""

from moto.core.responses import ActionResult, EmptyResult

from embedded_aws.actions import Refusal
from embedded_aws.cloudformation import signals
from embedded_aws.cloudformation.api.submission import Submission, admission, cannot
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution import operations
from embedded_aws.cloudformation.execution.runs import launch
from embedded_aws.cloudformation.exports import is_empty


class Commands(Submission):
    """Checks a request, starts the operation and answers."""

    def create_stack(self) -> ActionResult:
        """CreateStack."""
        on_failure = self._get_param("OnFailure") or (
            "DO_NOTHING" if self._get_param("DisableRollback") else "ROLLBACK"
        )
        store = self._store
        with admission:
            name = self._new_name()
            if existing := store.find(name):
                raise Refusal("AlreadyExistsException", f"Stack [{existing.name}] already exists")
            stack = self._new_stack(name)
            changes = self._changes(stack)
            self._begin(stack, "CREATE_IN_PROGRESS")
            stack.protect(bool(self._get_param("EnableTerminationProtection")))
            store.add(stack)
        launch(stack, lambda: operations.create(store, stack, changes, on_failure))
        return ActionResult({"StackId": stack.stack_id})

    def update_stack(self) -> ActionResult:
        """UpdateStack."""
        store, stack = self._store, self._stack()
        disable_rollback = bool(self._get_param("DisableRollback"))
        with admission:
            self._check_updatable(stack)
            changes = self._changes(stack)
            if is_empty(stack, changes):
                raise ValidationError("No updates are to be performed.")
            self._begin(stack, "UPDATE_IN_PROGRESS")
        launch(
            stack,
            lambda: operations.update(store, stack, changes, disable_rollback=disable_rollback),
        )
        return ActionResult({"StackId": stack.stack_id})

    def delete_stack(self) -> ActionResult:
        """DeleteStack; like AWS it succeeds if there is no such stack."""
        store = self._store
        stack = store.find(self._get_param("StackName"))
        retain = tuple(self._get_param("RetainResources", []))
        force = self._get_param("DeletionMode") == "FORCE_DELETE_STACK"
        if stack is None or stack.deleted:
            return EmptyResult()
        with admission:
            if stack.termination_protection:
                raise ValidationError(
                    f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
                )
            if retain and stack.status != "DELETE_FAILED":
                raise ValidationError(
                    f"Invalid operation on stack [{stack.name}]. When you delete a stack, specify "
                    "which resources to retain only when the stack is in the DELETE_FAILED state."
                )
            if stack.status == "CREATE_IN_PROGRESS" and signals.are_expected(stack):
                stack.request_deletion()
                signals.cancel(stack)
                return EmptyResult()
            if stack.in_progress:
                raise cannot(stack, "deleted")
            self._begin(stack, "DELETE_IN_PROGRESS")
        launch(stack, lambda: operations.delete(store, stack, retain=retain, force=force))
        return EmptyResult()

    def rollback_stack(self) -> ActionResult:
        """RollbackStack: after a failure that was not rolled back."""
        stack = self._stack()
        with admission:
            if stack.status not in ("CREATE_FAILED", "UPDATE_FAILED") or stack.stable is None:
                raise cannot(stack, "rolled back")
            creation = stack.stable.desired is None
            self._begin(
                stack, "ROLLBACK_IN_PROGRESS" if creation else "UPDATE_ROLLBACK_IN_PROGRESS"
            )
        work = operations.roll_back_creation if creation else operations.roll_back_update
        launch(stack, lambda: work(stack))
        return ActionResult({"StackId": stack.stack_id})

    def continue_update_rollback(self) -> ActionResult:
        """ContinueUpdateRollback, without the resources to skip."""
        stack = self._stack()
        skip = tuple(self._get_param("ResourcesToSkip", []))
        with admission:
            if stack.status != "UPDATE_ROLLBACK_FAILED":
                raise ValidationError(
                    f"Stack:{stack.stack_id} is in {stack.status} state and can not continue "
                    "rolling back."
                )
            self._begin(stack, "UPDATE_ROLLBACK_IN_PROGRESS")
        launch(stack, lambda: operations.roll_back_update(stack, skip=skip))
        return EmptyResult()

    def signal_resource(self) -> ActionResult:
        """SignalResource: to a resource that is being created."""
        signal = signals.Signal(
            unique_id=self._get_param("UniqueId"), status=self._get_param("Status")
        )
        signals.send(self._stack(), self._get_param("LogicalResourceId"), signal)
        return EmptyResult()

    def update_termination_protection(self) -> ActionResult:
        """UpdateTerminationProtection, which AWS allows in every status but two."""
        stack = self._stack()
        if stack.deleted or stack.status == "DELETE_IN_PROGRESS":
            raise ValidationError(
                f"Stack [{stack.name}] is in {stack.status} state and its TerminationProtection "
                "can not be updated"
            )
        stack.protect(bool(self._get_param("EnableTerminationProtection")))
        return ActionResult({"StackId": stack.stack_id})
