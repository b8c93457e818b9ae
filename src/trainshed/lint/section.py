"""A mapping of a file, read field by field into facts."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from trainshed.documents.messages import shown
from trainshed.documents.problems import InvalidDocument, Path, Problem, Where
from trainshed.documents.yaml import Value
from trainshed.lint.model import Fact, Known, Unknown

T = TypeVar("T")
# What a script or a template engine fills in before the tool reads the file: ${NAME}, $NAME,
# {{ name }}, <name>.
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*|\{\{.*?\}\}|^<[^<>]+>$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A mapping of a file.

    Attributes:
        value: what is in it.
        path: where in the file it stands.
        where: the file.
    """

    value: Mapping[str, Value]
    path: Path
    where: Where

    def text(self, *keys: str) -> Fact[str]:
        """Return a text below some keys; a number is the text that the file has."""
        return self._fact(keys, _text, "text")

    def whole(self, *keys: str) -> Fact[int]:
        """Return a whole number below some keys."""
        return self._fact(keys, _whole, "a whole number")

    def flag(self, *keys: str) -> Fact[bool]:
        """Return a flag below some keys."""
        return self._fact(keys, _flag, "true or false")

    def texts(self, *keys: str) -> Fact[tuple[str, ...]]:
        """Return a list of texts below some keys."""
        return self._fact(keys, _texts, "a list of texts")

    def gives(self, *keys: str) -> bool:
        """Whether the file gives anything below some keys."""
        return self._find(keys) is not None

    def section(self, *keys: str) -> "Section":
        """Return the mapping below some keys; an empty one where the file has none.

        Raises:
            InvalidDocument: something else stands there.
        """
        found = self._find(keys)
        path = (*self.path, *keys)
        if found is None:
            return Section(value={}, path=path, where=self.where)
        if isinstance(found, Unknown) or not isinstance(found.value, dict):
            raise self._not(path, "a mapping", found)
        return Section(value=found.value, path=path, where=self.where)

    def sections(self, *keys: str) -> tuple["Section", ...]:
        """Return the mappings of a list below some keys.

        Raises:
            InvalidDocument: something else stands there, or in the list.
        """
        found = self._find(keys)
        path = (*self.path, *keys)
        if found is None:
            return ()
        if isinstance(found, Unknown) or not isinstance(found.value, list):
            raise self._not(path, "a list of mappings", found)
        entries: list[Section] = []
        for index, entry in enumerate(found.value):
            here = (*path, index)
            if not isinstance(entry, dict):
                raise self._not(here, "a mapping", Known(value=entry, path=here))
            entries.append(Section(value=entry, path=here, where=self.where))
        return tuple(entries)

    def _not(self, path: Path, noun: str, found: Known[Value] | Unknown) -> InvalidDocument:
        seen = found.why if isinstance(found, Unknown) else f"{shown(found.value)} is not {noun}"
        return InvalidDocument([Problem(where=self.where, path=path, message=seen)])

    def _find(self, keys: tuple[str, ...]) -> Known[Value] | Unknown | None:
        """Return what stands below some keys; None for nothing, or for null."""
        value: Value = dict(self.value)
        path = self.path
        for key in keys:
            if value is None:
                return None
            if unknown := _placeholder(value, path):
                return unknown
            if not isinstance(value, dict):
                return Unknown(why=f"{shown(value)} is not a mapping", path=path)
            value = value.get(key)
            path = (*path, key)
        return None if value is None else Known(value=value, path=path)

    def _fact(self, keys: tuple[str, ...], read: Callable[[Value], T | None], noun: str) -> Fact[T]:
        found = self._find(keys)
        if found is None or isinstance(found, Unknown):
            return found
        if unknown := _placeholder(found.value, found.path):
            return unknown
        value = read(found.value)
        if value is None:
            return Unknown(why=f"{shown(found.value)} is not {noun}", path=found.path)
        return Known(value=value, path=found.path)


def _placeholder(value: Value, path: Path) -> Unknown | None:
    """Return the first placeholder in a text, or in one of a list."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and (found := _PLACEHOLDER.search(text)):
            return Unknown(why=f"the placeholder {found[0]}", path=path)
    return None


def _text(value: Value) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return value if isinstance(value, str) else repr(value)


def _whole(value: Value) -> int | None:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _flag(value: Value) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: Value) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    found = [_text(entry) for entry in value]
    return None if None in found else tuple(text for text in found if text is not None)
