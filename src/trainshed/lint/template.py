"""A CloudFormation template in one of its cases: its resources, and their resolved values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainshed.documents.messages import shown
from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.lint import scalars
from trainshed.lint.intrinsics import Scope
from trainshed.lint.model import Given, Known, Unknown
from trainshed.lint.symbol import Symbol

_LOOP = "Fn::ForEach::"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateValue:
    """A place in a template.

    Attributes:
        scope: what references are resolved by.
        given: the value, resolved; what is inside it is not.
        path: where it stands, or would stand.
    """

    scope: Scope
    given: Given[Value]
    path: Path

    def __bool__(self) -> bool:
        """Whether something is there, decided or not."""
        return self.given is not None

    def get(self, *keys: str) -> "TemplateValue":
        """Return what is under some keys; inside what is not decided, nothing is."""
        node = self
        for key in keys:
            node = node._get(key)
        return node

    def _get(self, key: str) -> "TemplateValue":
        path = (*(self.given.path if self.given else self.path), key)
        match self.given:
            case Known(value=dict(mapping)):
                if key not in mapping and any(str(each).startswith(_LOOP) for each in mapping):
                    given: Given[Value] = Unknown(why="Fn::ForEach is not expanded here", path=path)
                elif key not in mapping and "Fn::Transform" in mapping:
                    given = Unknown(why="Fn::Transform is not resolved here", path=path)
                else:
                    given = self._inherit(self.scope.resolve(mapping.get(key), path))
                return TemplateValue(scope=self.scope, given=given, path=path)
            case Unknown():
                return TemplateValue(scope=self.scope, given=self.given, path=path)
        return TemplateValue(scope=self.scope, given=None, path=path)

    def entries(self) -> Given[tuple["TemplateValue", ...]]:
        """Return the entries of a list, without those that are no value."""
        if not isinstance(self.given, Known):
            return self.given
        path = self.given.path
        if not isinstance(self.given.value, list):
            return Unknown(why=f"{shown(self.given.value)} is not a list", path=path)
        nodes = []
        for index, value in enumerate(self.given.value):
            here = (*path, index)
            given = self._inherit(self.scope.resolve(value, here))
            if isinstance(given, Unknown):
                return given
            if given:
                nodes.append(TemplateValue(scope=self.scope, given=given, path=here))
        return Known(value=tuple(nodes), path=path, defaults=self.given.defaults)

    def known_entries(self) -> tuple["TemplateValue", ...]:
        """Return the entries of a list; none where it is not there or not decided."""
        entries = self.entries()
        return entries.value if isinstance(entries, Known) else ()

    def reference(self) -> Given[str]:
        """Return a text, which may be a symbol."""
        given = self.given
        if not isinstance(given, Known):
            return given
        if isinstance(given.value, Symbol):
            return Known(value=given.value, path=given.path, defaults=given.defaults)
        return self._inherit(scalars.text(given.value, given.path))

    def text(self) -> Given[str]:
        """Return a text; one that only a deployment completes is unknown."""
        return _literal(self.reference())

    def whole(self) -> Given[int]:
        """Return a whole number."""
        text = self.text()
        if not isinstance(text, Known):
            return text
        return self._inherit(scalars.whole(text.value, text.path))

    def flag(self) -> Given[bool]:
        """Return true or false."""
        text = self.text()
        if not isinstance(text, Known):
            return text
        return self._inherit(scalars.flag(text.value, text.path))

    def references(self) -> Given[tuple[str, ...]]:
        """Return texts, which may be symbols."""
        return self._texts(literal=False)

    def texts(self) -> Given[tuple[str, ...]]:
        """Return texts; where one is a symbol, all are unknown."""
        return self._texts(literal=True)

    def _texts(self, *, literal: bool) -> Given[tuple[str, ...]]:
        if isinstance(self.given, Known) and isinstance(self.given.value, Symbol) and not literal:
            return Known(value=(self.given.value,), path=self.given.path)
        entries = self.entries()
        if not isinstance(entries, Known):
            return entries
        texts: list[str] = []
        defaults = entries.defaults
        for node in entries.value:
            given = node.text() if literal else node.reference()
            if isinstance(given, Unknown):
                return given
            if given:
                texts.append(given.value)
                defaults += given.defaults
        unique = tuple(dict.fromkeys(defaults))
        return Known(value=tuple(texts), path=entries.path, defaults=unique)

    def _inherit(self, given: Given[Any]) -> Given[Any]:
        if isinstance(given, Known) and isinstance(self.given, Known) and self.given.defaults:
            return Known(
                value=given.value, path=given.path, defaults=self.given.defaults + given.defaults
            )
        return given


def _literal(given: Given[str]) -> Given[str]:
    if isinstance(given, Known) and isinstance(given.value, Symbol):
        return Unknown(
            why=f"{given.value}, which is known only when it is deployed", path=given.path
        )
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResource:
    """A resource of a template.

    Attributes:
        logical_id: its name in the template.
        type: for instance `AWS::EC2::Instance`.
        path: where it stands.
        properties: what it has.
        attributes: beside its properties, for instance `DeletionPolicy`.
    """

    logical_id: str
    type: str
    path: Path
    properties: TemplateValue
    attributes: TemplateValue

    def get(self, *keys: str) -> TemplateValue:
        """Return what is under some keys of its properties."""
        return self.properties.get(*keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template in one of its cases.

    Attributes:
        scope: what references are resolved by.
        resources: those that this case has, by logical id.
        absent: logical ids of those that it does not have.
    """

    scope: Scope
    resources: dict[str, TemplateResource]
    absent: tuple[str, ...]

    def of_type(self, *types: str) -> Iterator[TemplateResource]:
        """Yield the resources of some types."""
        return (each for each in self.resources.values() if each.type in types)


def read_resources(scope: Scope) -> Template:
    """Return the resources of a template; one whose condition is not decided is there."""
    resources, absent = {}, []
    for name, definition in scope.sections["Resources"].items():
        if not isinstance(definition, dict) or name.startswith(_LOOP):
            continue
        condition = definition.get("Condition")
        if isinstance(condition, str) and scope.conditions.get(condition) is False:
            absent.append(name)
            continue
        path: Path = ("Resources", name)
        attributes = TemplateValue(scope=scope, given=Known(value=definition, path=path), path=path)
        resources[name] = TemplateResource(
            logical_id=name,
            type=str(definition.get("Type", "")),
            path=path,
            properties=attributes.get("Properties"),
            attributes=attributes,
        )
    return Template(scope=scope, resources=resources, absent=tuple(absent))
