"""What CloudFormation asks of a resource type: create, update, delete.

As on AWS, a handler knows nothing of templates: it gets resolved properties and calls the
service's ordinary API, so that what the API refuses, the stack refuses with the same words.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

# Resolved template properties; JSON has no types.
Properties = Mapping[str, Any]


class HandlerError(Exception):
    """A handler refuses, in AWS's words.

    Args:
        message: what the service would say.
        code: CloudFormation's HandlerErrorCode, for instance `InvalidRequest`, `NotFound`,
            `AlreadyExists`, `NotStabilized`, `GeneralServiceException`. `NotUpdatable` promises
            that nothing was changed, so that a rollback has nothing to restore.
    """

    def __init__(self, message: str, code: str = "InvalidRequest") -> None:
        super().__init__(message)
        self.code = code


# CloudFormation's handler error codes by parts of the services' error codes.
_CODES = {
    "NotFound": "NotFound",
    "NoSuch": "NotFound",
    "NonExist": "NotFound",
    "DoesNotExist": "NotFound",
    "NotAttached": "NotFound",
    ".Unknown": "NotFound",
    "Already": "AlreadyExists",
    "Duplicate": "AlreadyExists",
    "AccessDenied": "AccessDenied",
    "Unauthorized": "AccessDenied",
    "LimitExceeded": "ServiceLimitExceeded",
    "Throttling": "Throttling",
}


def handler_error_code(code: str) -> str:
    """Return CloudFormation's HandlerErrorCode for the error code of a service."""
    return next((known for part, known in _CODES.items() if part in code), "InvalidRequest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One resource of one stack, with everything resolved.

    Attributes:
        resource_type: for instance `AWS::EC2::PlacementGroup`.
        logical_id: the resource's name in the template.
        properties: with every Ref, GetAtt and function resolved.
        definition: the template's resource without its properties: policies, metadata.
        stack_name: name of the stack.
        stack_id: ARN of the stack.
        account: 12 digits.
        region: for instance `us-west-2`.
        tags: the stack's tags and CloudFormation's own (`aws:cloudformation:...`), to be put on
            resources that take tags; the resource's own Tags property takes precedence.
        former_tags: in an update, the tags that the stack had when the resource was last changed.
        client: gives a boto3 client of the embedded AWS in this account and region.
    """

    resource_type: str
    logical_id: str
    properties: Properties
    stack_name: str
    stack_id: str
    account: str
    region: str
    tags: Mapping[str, str]
    definition: Mapping[str, Any] = field(default_factory=dict)
    former_tags: Mapping[str, str] = field(default_factory=dict)
    client: Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result of a create or an update.

    Attributes:
        physical_id: what `Ref` returns.
        attributes: what `Fn::GetAtt` returns, by attribute name (dots included).
    """

    physical_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


class AttributesOnDemand(Mapping[str, Any]):
    """Attributes that are read when they are used, and cannot be listed.

    Args:
        read: returns an attribute; raises KeyError for an unknown one.
    """

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> Any:
        """Read an attribute."""
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        """List none."""
        return iter(())

    def __len__(self) -> int:
        """Count none."""
        return 0


class ResourceHandler(Protocol):
    """Creates, updates and deletes resources of a type.

    Each may raise HandlerError or botocore's ClientError; both fail the resource. The engine
    decides from the type's schema (createOnlyProperties) whether a change replaces.
    """

    def create(self, request: Request) -> Made:
        """Create the resource and return its identity."""
        ...

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Change the resource in place; `before` holds the properties it had."""
        ...

    def delete(self, request: Request, physical_id: str) -> None:
        """Delete the resource; do nothing if it does not exist."""
        ...


@runtime_checkable
class SignalledByInstances(Protocol):
    """A handler of resources whose own instances signal that they are complete."""

    def signallers(self, request: Request, physical_id: str) -> Collection[str]:
        """Return the ids of the instances."""
        ...


_handlers: dict[str, ResourceHandler] = {}


def resource(*resource_types: str) -> Callable[[type[ResourceHandler]], type[ResourceHandler]]:
    """Register the decorated class as the handler of these resource types."""

    def register(handler: type[ResourceHandler]) -> type[ResourceHandler]:
        for resource_type in resource_types:
            _handlers[resource_type] = handler()
        return handler

    return register


def handler_of(resource_type: str) -> ResourceHandler | None:
    """Return the handler of a type, or None when the embedded AWS does not support it."""
    return _handlers.get(resource_type)


def supported_types() -> tuple[str, ...]:
    """Return every resource type that has a handler, sorted."""
    return tuple(sorted(_handlers))
