"""A resource that differs, with what surrounds it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.review.model import Effect, Level, ResourceChange, Risk, RiskKind, StackChange

Resources = Mapping[str, Mapping[str, Any]]
GIVEN_UP = (Effect.REPLACED, Effect.MAY_BE_REPLACED, Effect.REMOVED)
"""Effects after which the resource that was there is no longer the stack's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A resource that differs.

    Attributes:
        change: what differs.
        before: the resources of its stack.
        after: the resources of its stack.
        stack: all that differs in its stack.
        region: of its stack.
        remains: its stack is still there after the change.
    """

    change: ResourceChange
    before: Resources
    after: Resources
    stack: StackChange
    region: str
    remains: bool

    @property
    def old(self) -> Mapping[str, Any]:
        """The resource before the change; empty where it was not there."""
        return self.before.get(self.change.logical_id, {})

    @property
    def new(self) -> Mapping[str, Any]:
        """The resource after the change; empty where it is gone."""
        return self.after.get(self.change.logical_id, {})

    @property
    def forcing(self) -> str:
        """The properties that force a replacement, each once."""
        paths = (each.path for each in self.change.properties if each.replaces)
        return ", ".join(dict.fromkeys(paths))

    @property
    def what_happens(self) -> str:
        """How the stack gives it up: `is replaced, because Subnets changes`."""
        if not self.remains:
            return (
                "is in a stack that is no longer in the app, which no deployment deletes; once "
                "somebody does"
            )
        if self.change.effect is Effect.REMOVED:
            return "leaves its stack"
        verb = "is" if self.change.effect is Effect.REPLACED else "may be"
        return f"{verb} replaced, because of {self.forcing}"

    def risk(
        self,
        kind: RiskKind,
        level: Level,
        message: str,
        remedy: str,
        spared_minutes: int | None = None,
    ) -> Risk:
        """Return a risk of this resource."""
        return Risk(
            kind=kind,
            level=level,
            stack=self.change.stack,
            resource=self.change.name,
            message=message,
            remedy=remedy,
            spared_minutes=spared_minutes,
        )


def at(resource: Mapping[str, Any], path: str) -> Any:
    """Return a property of a resource by its path; None where there is none."""
    value: Any = resource.get("Properties", {})
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def leaves_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the innermost values of a part of a template, each with its path."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from leaves_of(entry, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from leaves_of(element, f"{path}[{index}]")
    else:
        yield path, value


def is_true(value: Any) -> bool:
    """Return whether CloudFormation takes a value for true."""
    return str(value).lower() == "true"


def whole_number(value: Any) -> int | None:
    """Return a whole number of a template; None for what is not one, such as a reference."""
    return int(str(value)) if str(value).isdigit() else None
