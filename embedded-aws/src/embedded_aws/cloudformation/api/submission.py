"""The stack that a request names, and what changes in it."""

import re
import threading
from typing import Final
from uuid import uuid4

from moto.utilities.utils import get_partition

from embedded_aws.cloudformation.api.capabilities import check_capabilities
from embedded_aws.cloudformation.api.queries import Queries
from embedded_aws.cloudformation.changes.model import Changes
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.support import check_types
from embedded_aws.cloudformation.exports import exported_value
from embedded_aws.cloudformation.policies import check_policies
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.template.desired_state import prepare

_NAME: Final = re.compile(r"[a-zA-Z][-a-zA-Z0-9]{0,127}")
# The statuses from which a stack can be updated.
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
# Refused, because they would have no effect. Two others are accepted, as the CDK CLI always sets
# them: ImportExistingResources (creating a resource that exists fails with a clear message) and
# IncludeNestedStacks (nested stacks get no change sets of their own).
_UNSUPPORTED: Final = (
    "DeploymentMode",
    "NotificationARNs",
    "ResourcesToImport",
    "StackPolicyBody",
    "StackPolicyURL",
)
# Held while a call checks a stack's status and changes it.
admission = threading.RLock()


class Submission(Queries):
    """Shared by the calls that change stacks."""

    def _begin(self, stack: Stack, status: str) -> None:
        """Begin an operation, which makes the stack's change sets obsolete."""
        for change_set in self._store.change_sets_of(stack):
            if change_set.execution_status == "AVAILABLE":
                change_set.execution_status = "OBSOLETE"
        stack.claim(status, self._get_param("ClientRequestToken"), self._get_param("RoleARN"))

    def _new_name(self) -> str:
        name: str = self._get_param("StackName")
        check_name(name, "stackName")
        return name

    def _new_stack(self, name: str) -> Stack:
        return Stack(
            stack_id=(
                f"arn:{get_partition(self.region)}:cloudformation:{self.region}:"
                f"{self.current_account}:stack/{name}/{uuid4()}"
            ),
            name=name,
            account=self.current_account,
            region=self.region,
            token=self._get_param("ClientRequestToken"),
            role_arn=self._get_param("RoleARN"),
            timeout_minutes=self._get_param("TimeoutInMinutes"),
        )

    def _check_updatable(self, stack: Stack) -> None:
        if stack.status not in _UPDATABLE:
            raise cannot(stack, "updated")

    def _changes(self, stack: Stack) -> Changes:
        """Return what the submitted template and parameters change in a stack."""
        for name in _UNSUPPORTED:
            if self._get_param(name):
                raise ValidationError(f"the embedded AWS does not support {name}; leave it out")
        before = stack.desired
        if before and self._get_param("UsePreviousTemplate"):
            template = before.template
        else:
            template = self._submitted_template()
        check_policies(template.resources)
        check_capabilities(template.resources, self._get_param("Capabilities", []))
        check_types((it["Type"] for it in template.resources.values()), stack.region)
        previous = before.parameters if before else {}
        given = {
            (name := parameter["ParameterKey"]): (
                previous[name].given
                if parameter.get("UsePreviousValue") and name in previous
                else parameter.get("ParameterValue", "")
            )
            for parameter in self._get_param("Parameters", [])
        }
        tags = self._get_param("Tags")
        kept = stack.tags if tags is None else {tag["Key"]: tag["Value"] for tag in tags}
        if len(kept) < len(tags or ()):
            raise ValidationError("Tags contain duplicate keys; tag keys must be unique")
        desired = prepare(
            template,
            given=given,
            tags=kept,
            pseudo_parameters=stack.pseudo_parameters,
            export=lambda name: exported_value(self._store, name),
        )
        return Changes(stack, desired)


def cannot(stack: Stack, what: str) -> ValidationError:
    """Return the error for a stack whose status does not allow an operation.

    Args:
        stack: the stack.
        what: a participle, for instance `updated`.
    """
    return ValidationError(
        f"Stack:{stack.stack_id} is in {stack.status} state and can not be {what}."
    )


def check_name(name: str, where: str) -> None:
    """Refuse an invalid name.

    Args:
        name: the name.
        where: the parameter, for instance `stackName`.

    Raises:
        ValidationError: in AWS's words.
    """
    if not _NAME.fullmatch(name):
        raise ValidationError(
            f"1 validation error detected: Value '{name}' at '{where}' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"
        )
