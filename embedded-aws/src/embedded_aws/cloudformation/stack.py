"""One stack: its resources, outputs and events, and the only code that changes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from moto.utilities.utils import get_partition

from embedded_aws.cloudformation.records import Event, Output, Resource
from embedded_aws.cloudformation.template.desired_state import DesiredState

STACK_TYPE: Final = "AWS::CloudFormation::Stack"

# The stack's statuses with which an operation begins; a rollback is a new operation.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeEvents.html
_BEGINNINGS: Final = frozenset(
    {
        "REVIEW_IN_PROGRESS",
        "CREATE_IN_PROGRESS",
        "UPDATE_IN_PROGRESS",
        "DELETE_IN_PROGRESS",
        "ROLLBACK_IN_PROGRESS",
        "UPDATE_ROLLBACK_IN_PROGRESS",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stable:
    """A state to roll back to.

    Attributes:
        desired: None when there was no stack before.
    """

    desired: DesiredState | None
    resources: Mapping[str, Resource]
    outputs: Sequence[Output]


@dataclass(slots=True, kw_only=True)
class Stack:
    """One stack. Others read its attributes, at any time, and change them through its methods.

    A change replaces the whole mapping or sequence, so a reader's copy stays as it is.

    Attributes:
        desired: its desired state, reached or not.
        stable: what it was before the operation that runs, or failed without rolling back.
        leftovers: replaced resources whose deletion is still due.
        gone: resources that it had.
        root_id, parent_id: for a nested stack.
        operation_id: of the operation that runs or ran last.
        deletion_requested: it is to be deleted when its creation has ended.
    """

    stack_id: str
    name: str
    account: str
    region: str
    status: str = ""
    reason: str | None = None
    desired: DesiredState | None = None
    resources: Mapping[str, Resource] = field(default_factory=dict)
    outputs: Sequence[Output] = ()
    events: Sequence[Event] = ()
    stable: Stable | None = None
    leftovers: Sequence[Resource] = ()
    gone: Mapping[str, Resource] = field(default_factory=dict)
    termination_protection: bool = False
    disable_rollback: bool = False
    role_arn: str | None = None
    timeout_minutes: int | None = None
    parent_id: str | None = None
    root_id: str | None = None
    token: str | None = None
    operation_id: str = ""
    deletion_requested: bool = False
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime | None = None
    deleted: datetime | None = None

    @property
    def tags(self) -> Mapping[str, str]:
        """The stack's tags (moto's Resource Groups Tagging API reads them here)."""
        return self.desired.tags if self.desired else {}

    @property
    def pseudo_parameters(self) -> Mapping[str, Any]:
        """The values of the pseudo parameters in its template."""
        partition = get_partition(self.region)
        return {
            "AWS::AccountId": self.account,
            "AWS::NotificationARNs": [],
            "AWS::Partition": partition,
            "AWS::Region": self.region,
            "AWS::StackId": self.stack_id,
            "AWS::StackName": self.name,
            "AWS::URLSuffix": "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com",
        }

    @property
    def in_progress(self) -> bool:
        """Whether an operation runs on it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    def value(self, logical_id: str, attribute: str | None) -> Any:
        """Return what `Ref` (attribute None) or `Fn::GetAtt` of a resource returns."""
        return self.resources[logical_id].value(attribute)

    def claim(self, status: str, token: str | None, role_arn: str | None) -> None:
        """Take the status of an operation that was accepted, before its first event."""
        self.status, self.token = status, token
        self.role_arn = role_arn or self.role_arn

    def protect(self, protected: bool) -> None:
        """Switch termination protection."""
        self.termination_protection = protected

    def request_deletion(self) -> None:
        """Have it deleted when its creation has ended."""
        self.deletion_requested = True

    def nest_in(self, parent: "Stack") -> None:
        """Make it a nested stack of another one."""
        self.parent_id, self.root_id = parent.stack_id, parent.root_id or parent.stack_id

    def start(self, desired: DesiredState, *, disable_rollback: bool) -> None:
        """Take a new desired state, and keep the present state to roll back to."""
        if self.stable is None:
            self.stable = Stable(
                desired=self.desired, resources=self.resources, outputs=self.outputs
            )
        if self.desired is not None:
            self.updated = datetime.now(UTC)
        self.desired, self.disable_rollback = desired, disable_rollback

    def record(self, status: str, reason: str | None = None) -> None:
        """Give the stack a status, with an event."""
        self.status, self.reason = status, reason
        if status in _BEGINNINGS:
            self.operation_id = str(uuid4())
        this = Resource(logical_id=self.name, physical_id=self.stack_id, resource_type=STACK_TYPE)
        self.record_resource(this, status, reason)

    def record_resource(
        self, resource: Resource, status: str, reason: str | None = None
    ) -> Resource:
        """Add an event about a resource; return the resource with its new status, not stored."""
        now = datetime.now(UTC)
        changed = replace(resource, status=status, reason=reason, changed_at=now)
        if self.events:
            # JavaScript, the CDK CLI too, distinguishes events by the millisecond.
            now = max(now, self.events[-1].timestamp + timedelta(milliseconds=1))
        event = Event(
            resource=changed, token=self.token, operation_id=self.operation_id, timestamp=now
        )
        self.events = (*self.events, event)
        return changed

    def store(self, resource: Resource) -> Resource:
        """Keep the new record of a resource, and return it."""
        self.resources = {**self.resources, resource.logical_id: resource}
        return resource

    def leave_over(self, resource: Resource) -> None:
        """Keep a replaced resource until the end of the operation."""
        self.leftovers = (*self.leftovers, resource)

    def forget(self, resource: Resource) -> None:
        """Let go of a resource that was deleted, is kept without the stack, or was never made."""
        current = self.resources.get(resource.logical_id)
        if current and current.physical_id == resource.physical_id:
            self.resources = {
                name: it for name, it in self.resources.items() if name != resource.logical_id
            }
            if resource.physical_id:
                self.gone = {**self.gone, resource.logical_id: resource}

    def publish(self, outputs: Sequence[Output]) -> None:
        """Replace the outputs."""
        self.outputs = outputs

    def complete(self, status: str) -> None:
        """End an operation: nothing is left to clean up or to roll back to."""
        self.leftovers, self.stable = (), None
        if status == "DELETE_COMPLETE":
            self.deleted = datetime.now(UTC)
        self.record(status)

    def return_to_stable(self) -> None:
        """Take back the desired state and the outputs of before the operation."""
        assert self.stable is not None
        self.desired, self.outputs = self.stable.desired, self.stable.outputs
