"""A mapping of a file, read field by field."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from trainshed.documents.messages import shown
from trainshed.documents.problems import Path, Problem, Where
from trainshed.documents.yaml import Value
from trainshed.lint import scalars
from trainshed.lint.model import Given, Known, Unknown
from trainshed.lint.reading import UnreadableFile

T = TypeVar("T")
# What a script or a template engine fills in before the tool reads the file: ${NAME}, $NAME,
# {{ name }}, <name>.
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*|\{\{.*?\}\}|^<[^<>]+>$", re.DOTALL)
# Versions of a launch template, not placeholders.
_WORDS = ("$Default", "$Latest")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSection:
    """A mapping of a file.

    Attributes:
        value: what is in it.
        path: where in the file it stands.
        where: the file.
    """

    value: Mapping[str, Value]
    path: Path
    where: Where

    def text(self, *keys: str) -> Given[str]:
        """Return a text below some keys; a number is the text that the file has."""
        return self._given(keys, scalars.text)

    def verbatim(self, *keys: str) -> Given[str]:
        """Return a text below some keys in which `$NAME` is no placeholder, as in a script."""
        found = self._find(keys)
        return scalars.text(found.value, found.path) if isinstance(found, Known) else found

    def whole(self, *keys: str) -> Given[int]:
        """Return a whole number below some keys."""
        return self._given(keys, scalars.whole)

    def flag(self, *keys: str) -> Given[bool]:
        """Return a flag below some keys."""
        return self._given(keys, scalars.flag)

    def texts(self, *keys: str) -> Given[tuple[str, ...]]:
        """Return a list of texts below some keys."""
        return self._given(keys, _texts)

    def references(self, *keys: str) -> Given[tuple[str, ...]]:
        """Return a list of ids below some keys, where a placeholder is as good as an id."""
        found = self._find(keys)
        if isinstance(found, Known) and isinstance(found.value, list):
            return _texts(found.value, found.path)
        return self.texts(*keys)

    def gives(self, *keys: str) -> bool:
        """Whether the file gives anything below some keys."""
        return self._find(keys) is not None

    def section(self, *keys: str) -> "FileSection":
        """Return the mapping below some keys; an empty one where the file has none.

        Raises:
            UnreadableFile: something else stands there.
        """
        found = self._find(keys)
        path = (*self.path, *keys)
        if found is None:
            return FileSection(value={}, path=path, where=self.where)
        if isinstance(found, Unknown) or not isinstance(found.value, dict):
            raise self._not(path, "a mapping", found)
        return FileSection(value=found.value, path=path, where=self.where)

    def sections(self, *keys: str) -> tuple["FileSection", ...]:
        """Return the mappings of a list below some keys.

        Raises:
            UnreadableFile: something else stands there, or in the list.
        """
        found = self._find(keys)
        path = (*self.path, *keys)
        if found is None:
            return ()
        if isinstance(found, Unknown) or not isinstance(found.value, list):
            raise self._not(path, "a list of mappings", found)
        entries: list[FileSection] = []
        for index, entry in enumerate(found.value):
            here = (*path, index)
            if not isinstance(entry, dict):
                raise self._not(here, "a mapping", Known(value=entry, path=here))
            entries.append(FileSection(value=entry, path=here, where=self.where))
        return tuple(entries)

    def _not(self, path: Path, noun: str, found: Known[Value] | Unknown) -> UnreadableFile:
        seen = found.why if isinstance(found, Unknown) else f"{shown(found.value)} is not {noun}"
        return UnreadableFile(str(Problem(where=self.where, path=path, message=seen)))

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

    def _given(self, keys: tuple[str, ...], read: Callable[[Value, Path], Given[T]]) -> Given[T]:
        found = self._find(keys)
        if found is None or isinstance(found, Unknown):
            return found
        return _placeholder(found.value, found.path) or read(found.value, found.path)


def _placeholder(value: Value, path: Path) -> Unknown | None:
    """Return the first placeholder in a text, or in one of a list."""
    for text in value if isinstance(value, list) else [value]:
        if not isinstance(text, str) or text in _WORDS:
            continue
        if found := _PLACEHOLDER.search(text):
            return Unknown(why=f"the placeholder {found[0]}", path=path)
    return None


def _texts(value: Value, path: Path) -> Given[tuple[str, ...]]:
    found = [scalars.text(entry, path) for entry in value] if isinstance(value, list) else [None]
    known = tuple(given.value for given in found if isinstance(given, Known))
    if len(known) < len(found):
        return Unknown(why=f"{shown(value)} is not a list of texts", path=path)
    return Known(value=known, path=path)
