"""What CloudFormation knows of one resource, one output and one event of a stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.cloudformation.schema import is_custom, values_at


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

    def value(self, attribute: str | None) -> Any:
        """Return what `Ref` (attribute None) or `Fn::GetAtt` returns.

        Raises:
            ValidationError: a custom resource's function did not return the attribute.
            HandlerError: the handler forgot an attribute that the type has.
        """
        if attribute is None:
            return self.physical_id
        try:
            return self.attributes[attribute]
        except KeyError:
            if is_custom(self.resource_type):
                raise ValidationError(
                    "CustomResource attribute error: Vendor response doesn't contain "
                    f"{attribute} attribute in object {self.physical_id}"
                ) from None
        # Older types let `Fn::GetAtt` read some of the properties back.
        for value in values_at(self.sent, tuple(attribute.split("."))):
            return value
        raise HandlerError(
            f"internal error of the embedded AWS: the handler of {self.resource_type} returned "
            f"no attribute {attribute}",
            "InternalFailure",
        )


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
class Event:
    """One line of a stack's history.

    Attributes:
        resource: as it stood then.
        token: ClientRequestToken of the call that caused it.
        operation_id: of the operation that it belongs to.
    """

    resource: Resource
    token: str | None
    operation_id: str
    timestamp: datetime
    event_id: str = field(default_factory=lambda: str(uuid4()))
