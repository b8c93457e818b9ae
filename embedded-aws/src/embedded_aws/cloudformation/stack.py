"""What CloudFormation remembers of a stack: its resources, outputs and events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from embedded_aws.cloudformation.changes.desired_state import DesiredState

STACK_TYPE = "AWS::CloudFormation::Stack"

# The stack's statuses with which an operation begins; a rollback is one of its own.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeEvents.html
_BEGINNINGS = frozenset(
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
class Event:
    """One line of a stack's history.

    Attributes:
        reason: why, for a failure or a skip.
        token: ClientRequestToken of the call that caused it.
        operation_id: of the operation that it belongs to.
    """

    logical_id: str
    physical_id: str
    resource_type: str
    status: str
    reason: str | None
    token: str | None
    operation_id: str
    timestamp: datetime
    event_id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource as it stands; changed by replacing the whole record.

    Attributes:
        physical_id: empty while it is being created.
        properties: the template's, resolved, dynamic references left as they are written.
        sent: what the handler got: dynamic references resolved, scalars coerced.
        attributes: what `Fn::GetAtt` returns.
        definition: the template's resource without its properties: policies, metadata.
        dependencies: logical ids that must outlive it.
        tags: the stack's tags that it was made with.
        status: for instance `CREATE_COMPLETE`.
    """

    logical_id: str
    resource_type: str
    physical_id: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)
    sent: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    definition: Mapping[str, Any] = field(default_factory=dict)
    dependencies: frozenset[str] = frozenset()
    tags: Mapping[str, str] = field(default_factory=dict)
    status: str = ""
    reason: str | None = None
    changed_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output of a stack.

    Attributes:
        export: name under which other stacks of the region import it.
    """

    name: str
    value: str
    description: str | None = None
    export: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stable:
    """A state to roll back to.

    Attributes:
        deployment: None when there was no stack before.
    """

    deployment: DesiredState | None
    resources: Mapping[str, Resource]
    outputs: tuple[Output, ...]


@dataclass(slots=True, kw_only=True)
class Stack:
    """One stack; only its own operation changes it, everybody may read it meanwhile.

    Attributes:
        deployment: what it was last told to be.
        stable: what it was before the operation that runs, or failed without rolling back.
        leftovers: replaced resources whose deletion is still due.
        gone: resources that it had and has no more.
        root_id, parent_id: for a nested stack.
        operation_id: of the operation that runs or ran last.
    """

    stack_id: str
    name: str
    account: str
    region: str
    status: str
    reason: str | None = None
    deployment: DesiredState | None = None
    resources: dict[str, Resource] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    events: list[Event] = field(default_factory=list)
    stable: Stable | None = None
    leftovers: list[Resource] = field(default_factory=list)
    gone: dict[str, Resource] = field(default_factory=dict)
    termination_protection: bool = False
    disable_rollback: bool = False
    role_arn: str | None = None
    timeout_minutes: int | None = None
    parent_id: str | None = None
    root_id: str | None = None
    token: str | None = None
    operation_id: str = ""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime | None = None
    deleted: datetime | None = None

    @property
    def tags(self) -> Mapping[str, str]:
        """The stack's tags (moto's Resource Groups Tagging API reads them here)."""
        return self.deployment.tags if self.deployment else {}

    @property
    def in_progress(self) -> bool:
        """Whether an operation runs on it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    def forget(self, resource: Resource) -> None:
        """Let go of a resource that was deleted or is kept without the stack."""
        current = self.resources.get(resource.logical_id)
        if current and current.physical_id == resource.physical_id:
            del self.resources[resource.logical_id]
            self.gone[resource.logical_id] = resource

    def tell(
        self,
        status: str,
        reason: str | None = None,
        *,
        resource: Resource | None = None,
    ) -> None:
        """Add an event about a resource, or about the stack itself, whose status it becomes."""
        if resource is None:
            self.status, self.reason = status, reason
            if status in _BEGINNINGS:
                self.operation_id = str(uuid4())
        now = datetime.now(UTC)
        if self.events:
            # JavaScript's clocks, the CDK CLI's among them, tell events apart by the millisecond.
            now = max(now, self.events[-1].timestamp + timedelta(milliseconds=1))
        self.events.append(
            Event(
                logical_id=resource.logical_id if resource else self.name,
                physical_id=resource.physical_id if resource else self.stack_id,
                resource_type=resource.resource_type if resource else STACK_TYPE,
                status=status,
                reason=reason,
                token=self.token,
                operation_id=self.operation_id,
                timestamp=now,
            )
        )
