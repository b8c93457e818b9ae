"""What the handlers of all services have in common."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from botocore.exceptions import ClientError, ParamValidationError

from trainshed.offline.cloudformation.resource import HandlerError, Made, Properties, Request
from trainshed.offline.resources.tags import all_tags, own_tags


class Handler:
    """Create, update and delete in terms of four smaller steps.

    A type says how to create, how to bring what can change to the template's state (`_configure`,
    used by create and update alike), how to read its attributes, and how to delete.

    Attributes:
        gone: error codes of the service that say the resource does not exist.
    """

    gone: ClassVar[tuple[str, ...]] = ()

    def create(self, request: Request) -> Made:
        """Create the resource; what was made is deleted again when configuring it fails."""
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
            self._configure(request, physical_id, before)
            tags = all_tags(request)
            stale = [key for key in own_tags(before) if key not in tags]
            self._retag(request, physical_id, tags, stale)
            return self._made(request, physical_id)

    def delete(self, request: Request, physical_id: str) -> None:
        """Delete the resource; one that is gone already is not an error."""
        try:
            self._delete(request, physical_id)
        except ClientError as error:
            if error.response["Error"]["Code"] not in self.gone:
                raise

    def _made(self, request: Request, physical_id: str) -> Made:
        # Of many types Fn::GetAtt gives properties too; the schema says of which.
        attributes = {**request.properties, **self._attributes(request, physical_id)}
        return Made(physical_id=physical_id, attributes=attributes)

    def _create(self, request: Request) -> str:
        raise NotImplementedError

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        """Set what can change in place; `before` is empty right after the creation."""

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        """Put `tags` on the resource and take the keys in `stale` off, if the type has tags."""

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        """Return what Fn::GetAtt gives beside the properties."""
        return {}

    def _delete(self, request: Request, physical_id: str) -> None:
        raise NotImplementedError


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what boto3 refuses to send, as the service would refuse it, into a handler's error."""
    try:
        yield
    except ParamValidationError as error:
        raise HandlerError(str(error)) from error


def changed(request: Request, before: Properties, *names: str) -> bool:
    """Tell whether any of these properties differs from what it was."""
    return any(request.properties.get(name) != before.get(name) for name in names)


def present(properties: Properties, *names: str) -> dict[str, Any]:
    """Return those of the named properties that the template sets."""
    return {name: properties[name] for name in names if name in properties}
