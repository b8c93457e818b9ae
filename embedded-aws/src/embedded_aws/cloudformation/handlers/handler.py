"""The base class of the handlers of all services."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, ClassVar

from botocore import xform_name
from botocore.exceptions import ClientError, ParamValidationError

from embedded_aws.cloudformation.handlers.arguments import accepted, arguments
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, own_tags
from embedded_aws.cloudformation.resource import (
    HandlerError,
    Made,
    Properties,
    Request,
    handler_error_code,
)
from embedded_aws.cloudformation.schema import schema_of


class Handler:
    """Creates, updates and deletes in smaller steps.

    A subclass says how to create, how to set what further calls set (`_configure`, after a creation
    and in an update), how to change what the creating call set (`_change`, in an update only), how
    to read its attributes, and how to delete. If a step is one call of the service, the subclass
    only names the operation; otherwise it overrides the method.

    A path selects from an answer: names joined by dots; of a list, the first entry.

    Attributes:
        service: boto3's name of the service that is called.
        target: the argument that names the resource; an operation may take a list of them.
        parts: the arguments that name the resource instead, if its physical id consists of them,
            and what separates them.
        creation: the operation that creates, and the path of the physical id in its answer, or
            in its arguments if the answer has none.
        reading: the operation that describes the resource, and the path of the description.
        deletion: the operation that deletes.
        name: the property with the resource's name, generated if the template has none.
        name_limit: maximum length of a generated name.
        later: properties that the creation does not take.
        changing: the operation that changes what the creation set; it is given all properties that
            it has arguments for, when one of them has changed.
        defaults: what to give it for properties that the template no longer has, if it keeps
            what it is not given.
        attributes: paths in the description, for attributes whose names differ there; a missing
            value is an empty string.
        known: the properties that can be set, if the calls would not refuse others by themselves.
        settings: properties that other calls set, in the order of these calls; those that are
            not in `later` in an update only.
        fixed: properties that CloudFormation changes in place, and the embedded AWS cannot. With
            `changing`, every property that no operation takes is one of them.
        tagging: how tags are changed; None for a type without tags.
    """

    service: ClassVar[str]
    target: ClassVar[str] = ""
    parts: ClassVar[tuple[str, str, str] | None] = None
    creation: ClassVar[tuple[str, str]]
    reading: ClassVar[tuple[str, str] | None] = None
    deletion: ClassVar[str]
    name: ClassVar[str | None] = None
    name_limit: ClassVar[int] = 255
    later: ClassVar[tuple[str, ...]] = ()
    changing: ClassVar[str | None] = None
    defaults: ClassVar[Mapping[str, Any]] = {}
    attributes: ClassVar[Mapping[str, str]] = {}
    known: ClassVar[tuple[str, ...] | None] = None
    settings: ClassVar[Mapping[str, Setting]] = {}
    fixed: ClassVar[tuple[str, ...]] = ()
    tagging: ClassVar[Tagging | None] = None

    def create(self, request: Request) -> Made:
        """Create the resource; delete it again when configuring it fails."""
        with _refusals():
            self._refuse_unknown(request)
            physical_id = self._create(request)
            try:
                self._configure(request, physical_id, {})
            except Exception:
                self.delete(request, physical_id)
                raise
            return self._made(request, physical_id)

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Change the resource and its tags in place."""
        with _refusals():
            self._refuse_fixed(request, before)
            self._refuse_unknown(request)
            self._change(request, physical_id, before)
            self._configure(request, physical_id, before)
            tags = all_tags(request)
            former = {**request.former_tags, **own_tags(before)}
            stale = [key for key in former if key not in tags]
            self._retag(request, physical_id, tags, stale)
            return self._made(request, physical_id)

    def delete(self, request: Request, physical_id: str) -> None:
        """Delete the resource; do nothing if it does not exist."""
        with forgiving():
            self._delete(request, physical_id)

    def _made(self, request: Request, physical_id: str) -> Made:
        # For many types Fn::GetAtt returns properties too; the schema says for which.
        schema = schema_of(request.resource_type, request.region)
        identity = {schema.identifier: physical_id} if schema and schema.identifier else {}
        attributes = {**identity, **request.properties, **self._attributes(request, physical_id)}
        return Made(physical_id=physical_id, attributes=attributes)

    def _refuse_unknown(self, request: Request) -> None:
        known = request.properties if self.known is None else self.known
        if unknown := sorted(set(request.properties).difference(known)):
            raise HandlerError(
                f"the embedded AWS cannot set {', '.join(unknown)} of {request.resource_type}"
            )

    def _refuse_fixed(self, request: Request, before: Properties) -> None:
        fixed = set(self.fixed)
        if self.changing:
            names = {*before, *request.properties}
            taken = accepted(request.client(self.service), self.changing, names)
            fixed |= names.difference(taken, self.later, self.settings, ("Tags",))
        if moved := sorted(name for name in fixed if changed(request, before, name)):
            raise HandlerError(
                f"the embedded AWS cannot change {', '.join(moved)} of {request.resource_type}",
                code="NotUpdatable",
            )

    def _create(self, request: Request) -> str:
        operation, path = self.creation
        given = self._wanted(request)
        answer = self._call(request, operation, given)
        return str(_at({**given, **answer}, path))

    def _wanted(self, request: Request) -> dict[str, Any]:
        """Return what the creation is given, in the spelling of the template."""
        wanted = {key: part for key, part in request.properties.items() if key not in self.later}
        if self.name and not wanted.get(self.name):
            wanted[self.name] = self._generated_name(request)
        if self.tagging:
            wanted["Tags"] = self.tagging.form(all_tags(request))
        return wanted

    def _generated_name(self, request: Request) -> str:
        return generated_name(request, limit=self.name_limit)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        """Change what the creation set."""
        if self.changing:
            wanted = {**self._dropped(before), **self._wanted(request)}
            taken = accepted(request.client(self.service), self.changing, {**before, **wanted})
            taken = [name for name in taken if name != "Tags"]
            if changed(request, before, *taken):
                target = {self.target: physical_id} if self.target else {}
                self._call(request, self.changing, present(wanted, *taken) | target)
        for name, setting in self.settings.items():
            if name not in self.later and changed(request, before, name):
                self._apply(request, setting, name, physical_id, before)

    def _dropped(self, before: Properties) -> dict[str, Any]:
        """Return the defaults of properties that the template had, to be overridden by its own."""
        return {name: value for name, value in self.defaults.items() if name in before}

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        """Set what the creating call does not; `before` is empty after a creation."""
        for name, setting in self.settings.items():
            if name in self.later and changed(request, before, name):
                self._apply(request, setting, name, physical_id, before)

    def _apply(
        self, request: Request, setting: Setting, name: str, physical_id: str, before: Properties
    ) -> None:
        if setting.each:
            self._apply_each(request, setting, name, physical_id, before)
            return
        target: dict[str, Any] = {self.target: physical_id}
        value = None
        if name in request.properties or not setting.remove:
            value = setting.reshape(request.properties.get(name, setting.neutral))
        if value is None and setting.remove:
            with forgiving():
                self._call(request, setting.remove, {}, **target)
        else:
            self._call(request, setting.put, {setting.argument or name: value}, **target)

    def _apply_each(
        self, request: Request, setting: Setting, name: str, physical_id: str, before: Properties
    ) -> None:
        """Remove the entries of a list that are gone, and set those that are new."""
        target: dict[str, Any] = {self.target: physical_id}
        gone, new = differences(
            setting.entries(before.get(name)), setting.entries(request.properties.get(name))
        )
        for entry in gone:
            with forgiving():
                taken = accepted(request.client(self.service), str(setting.remove), entry)
                self._call(request, str(setting.remove), present(entry, *taken), **target)
        for entry in new:
            self._call(request, setting.put, entry, **target)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        """Put `tags` on the resource and take the keys in `stale` off, if the type has tags."""
        if tagging := self.tagging:
            by = tagging.by
            name = self._attributes(request, physical_id)[by] if by else physical_id
            named = {tagging.target: name, **tagging.more}
            if tags:
                self._call(request, tagging.tag, {**named, "Tags": tagging.form(tags)})
            if stale:
                self._call(request, tagging.untag, {**named, tagging.keys: stale})

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
        """Return what Fn::GetAtt returns besides the physical id and the properties."""
        if not self.reading:
            return {}
        described = self._described(request, physical_id)
        schema = schema_of(request.resource_type, request.region)
        alike = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in described.items()
            if schema and schema.has_attribute(name) and name not in request.properties
        }
        return alike | {name: _at(described, path) for name, path in self.attributes.items()}

    def _described(self, request: Request, physical_id: str) -> Mapping[str, Any]:
        """Return the service's own description of the resource."""
        operation, path = self.reading or ("", "")
        description: Mapping[str, Any] = _at(self._address(request, operation, physical_id), path)
        return description

    def _delete(self, request: Request, physical_id: str) -> None:
        self._address(request, self.deletion, physical_id)

    def _address(self, request: Request, operation: str, physical_id: str) -> Any:
        """Call an operation whose only argument is the resource."""
        if self.parts:
            first, separator, last = self.parts
            named = dict(zip((first, last), physical_id.rsplit(separator, 1), strict=True))
            return self._call(request, operation, named)
        model = request.client(self.service).meta.service_model.operation_model(operation)
        many, one = f"{self.target}s", self.target
        takes_many = many in model.input_shape.members
        target: dict[str, Any] = {many: [physical_id]} if takes_many else {one: physical_id}
        return self._call(request, operation, {}, **target)


def _at(answer: Any, path: str) -> Any:
    """Return what a path selects, or an empty string."""
    for name in filter(None, path.split(".")):
        found = answer.get(name, "")
        answer = next(iter(found), "") if isinstance(found, list) else found
        if answer == "":
            break
    return answer


@contextmanager
def forgiving() -> Iterator[None]:
    """Ignore a service's error that says that what was to be removed does not exist.

    It also happens when an update that had failed halfway is rolled back.
    """
    try:
        yield
    except ClientError as error:
        if handler_error_code(error.response["Error"]["Code"]) != "NotFound":
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


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a structure that differ from their previous values."""
    return {name: value for name, value in now.items() if value != before.get(name)}


def differences(before: Sequence[Any], now: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return what was taken out of a list, and what was added to it."""
    gone = [each for each in before if each not in now]
    return gone, [each for each in now if each not in before]


def renamed(value: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """Return a structure with other names for some of its members."""
    return {names.get(name, name): part for name, part in value.items()}


def present(properties: Properties, *names: str) -> dict[str, Any]:
    """Return those of the named properties that the template sets."""
    return {name: properties[name] for name in names if name in properties}
