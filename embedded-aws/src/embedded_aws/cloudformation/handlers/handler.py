"""The base class of the handlers of all services."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from botocore import xform_name
from botocore.exceptions import ClientError, ParamValidationError

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, own_tags
from embedded_aws.cloudformation.resource import HandlerError, Made, Properties, Request


class Handler:
    """Creates, updates and deletes in smaller steps.

    A subclass implements how to create, how to set what further calls set (`_configure`, after a
    creation and in an update), how to change what the creating call set (`_change`, in an update
    only), how to read its attributes, and how to delete.

    Attributes:
        service: boto3's name of the service that `_call` calls.
        gone: error codes of the service that say the resource does not exist.
        fixed: properties that CloudFormation changes in place, and the embedded AWS cannot.
        tagging: how tags are changed; None for a type without tags.
    """

    service: ClassVar[str]
    gone: ClassVar[tuple[str, ...]] = ()
    fixed: ClassVar[tuple[str, ...]] = ()
    tagging: ClassVar[Tagging | None] = None

    def create(self, request: Request) -> Made:
        """Create the resource; delete it again when configuring it fails."""
        with _refusals():
            physical_id = self._create(request)
            try:
                self._configure(request, physical_id, {})
            except (ClientError, HandlerError, ParamValidationError):
                self.delete(request, physical_id)
                raise
            return self._made(request, physical_id)

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Change the resource and its tags in place."""
        with _refusals():
            self._refuse_fixed(request, before)
            self._change(request, physical_id, before)
            self._configure(request, physical_id, before)
            tags = all_tags(request)
            stale = [key for key in own_tags(before) if key not in tags]
            self._retag(request, physical_id, tags, stale)
            return self._made(request, physical_id)

    def delete(self, request: Request, physical_id: str) -> None:
        """Delete the resource; do nothing if it does not exist."""
        with forgiving(*self.gone):
            self._delete(request, physical_id)

    def _made(self, request: Request, physical_id: str) -> Made:
        # For many types Fn::GetAtt returns properties too; the schema says for which.
        attributes = {**request.properties, **self._attributes(request, physical_id)}
        return Made(physical_id=physical_id, attributes=attributes)

    def _refuse_fixed(self, request: Request, before: Properties) -> None:
        moved = [name for name in self.fixed if changed(request, before, name)]
        if moved:
            raise HandlerError(
                f"the embedded AWS cannot change {', '.join(moved)} of {request.resource_type}",
                code="NotUpdatable",
            )

    def _create(self, request: Request) -> str:
        raise NotImplementedError

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        """Change what the creation set."""

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        """Set what the creating call does not; `before` is empty after a creation."""

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        """Put `tags` on the resource and take the keys in `stale` off, if the type has tags."""
        if tagging := self.tagging:
            by = tagging.by
            name = self._attributes(request, physical_id)[by] if by else physical_id
            if tags:
                wanted = {tagging.target: name, "Tags": tagging.form(tags)}
                self._call(request, tagging.tag, wanted)
            if stale:
                self._call(request, tagging.untag, {tagging.target: name, "TagKeys": stale})

    def _call(
        self,
        request: Request,
        operation: str,
        properties: Properties,
        *,
        leave: tuple[str, ...] = (),
        **more: Any,
    ) -> Any:
        """Call an operation with properties of a template, all but `leave`, and with arguments."""
        client = request.client(self.service)
        converted = arguments(client, operation, properties, leave=leave)
        return getattr(client, xform_name(operation))(**converted, **more)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        """Return what Fn::GetAtt returns besides the properties."""
        return {}

    def _delete(self, request: Request, physical_id: str) -> None:
        raise NotImplementedError


@contextmanager
def forgiving(*codes: str) -> Iterator[None]:
    """Ignore these error codes of a service: what was to be removed does not exist.

    It also happens when an update that had failed halfway is rolled back.
    """
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] not in codes:
            raise


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn boto3's refusals of parameters into a HandlerError."""
    try:
        yield
    except ParamValidationError as error:
        raise HandlerError(str(error)) from error


def changed(request: Request, before: Properties, *names: str) -> bool:
    """Return whether any of these properties differs from its previous value."""
    return any(request.properties.get(name) != before.get(name) for name in names)


def refuse_unknown(request: Request, known: Iterable[str]) -> None:
    """Refuse properties that a handler would otherwise ignore."""
    if unknown := sorted(set(request.properties).difference(known)):
        raise HandlerError(
            f"the embedded AWS cannot set {', '.join(unknown)} of {request.resource_type}"
        )


def present(properties: Properties, *names: str) -> dict[str, Any]:
    """Return those of the named properties that the template sets."""
    return {name: properties[name] for name in names if name in properties}
