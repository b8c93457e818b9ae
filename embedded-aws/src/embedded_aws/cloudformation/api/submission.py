"""Find the stack that a request is about, and its desired state."""

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

NAME: Final = re.compile(r"[a-zA-Z][-a-zA-Z0-9]{0,127}")
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
admission = threading.RLock()


class Submission(Queries):
    """What the changing calls have in common."""

    def _begin(self, stack: Stack, status: str) -> None:
        """Let an operation begin: what change sets describe is the stack before it."""
        for change_set in self._store.change_sets_of(stack):
            if change_set.execution_status == "AVAILABLE":
                change_set.execution_status = "OBSOLETE"
        stack.claim(status, self._get_param("ClientRequestToken"), self._get_param("RoleARN"))

    def _new_name(self) -> str:
        name: str = self._get_param("StackName")
        if not NAME.fullmatch(name):
            raise bad_name(name, "stackName")
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
        before = stack.deployment
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
        desired = prepare(
            template,
            given=given,
            tags=kept,
            stack_name=stack.name,
            stack_id=stack.stack_id,
            account=stack.account,
            region=stack.region,
            export=lambda name: exported_value(self._store, name),
        )
        return Changes(stack, desired)


def cannot(stack: Stack, what: str) -> ValidationError:
    """Say that a stack is in no state for something.

    Args:
        stack: the stack.
        what: a participle, for instance `updated`.
    """
    return ValidationError(
        f"Stack:{stack.stack_id} is in {stack.status} state and can not be {what}."
    )


def bad_name(name: str, where: str) -> ValidationError:
    """Say that a name is none.

    Args:
        name: the name.
        where: the parameter, for instance `stackName`.
    """
    return ValidationError(
        f"1 validation error detected: Value '{name}' at '{where}' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"
    )
