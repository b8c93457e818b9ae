"""Reading an object of a JSON file, with errors that say where in it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainshed.errors import TrainshedError, did_you_mean


class PinError(TrainshedError):
    """The list of pins says something that cannot be baked, or leaves something out."""


class Fields:
    """The fields of one object; each is taken once, and nothing may be left at the end.

    Args:
        value: the object, as JSON gave it.
        where: its place in the file, for messages, for instance `component docker`.

    Raises:
        PinError: it is no object.
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise PinError(f"{where}: has to be an object, and is {_shown(value)}")
        self.where = where
        self._left: dict[str, Any] = dict(value)
        self._taken: list[str] = []

    def error(self, message: str) -> PinError:
        """Return the error that something about this object is."""
        return PinError(f"{self.where}: {message}")

    def take(self, name: str) -> Any:
        """Return a field as it is, None when it is not there."""
        self._taken.append(name)
        return self._left.pop(name, None)

    def optional(self, name: str, pattern: str = r".+", what: str = "a text") -> str | None:
        """Return a text, or None when it is null or not there.

        Raises:
            PinError: it is none, or not of the pattern.
        """
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise self.error(f"{name} has to be {what}, and is {_shown(value)}")
        return value

    def text(self, name: str, pattern: str = r".+", what: str = "a text") -> str:
        """Return a text that has to be there.

        Raises:
            PinError: it is not, or not of the pattern.
        """
        value = self.optional(name, pattern, what)
        if value is None:
            raise self.error(f"{name} is missing; it has to be {what}")
        return value

    def texts(self, name: str, pattern: str, what: str) -> Mapping[str, str]:
        """Return an object of texts by name, an empty one when it is not there.

        Raises:
            PinError: it is no object, or a text is not of the pattern.
        """
        value = self.take(name)
        if value is None:
            return {}
        entries = Fields(value, f"{self.where}: {name}")
        return {key: entries.text(key, pattern, what) for key in value}

    def names(self, name: str, known: Iterable[str]) -> frozenset[str]:
        """Return a list of known names; all of them when it is not there.

        Raises:
            PinError: it is empty, no list, or holds another name.
        """
        allowed = tuple(known)
        value = self.take(name)
        if value is None:
            return frozenset(allowed)
        if not isinstance(value, list) or not value:
            raise self.error(
                f"{name} has to be a list of {', '.join(allowed)}; leave it out for all"
            )
        for entry in value:
            if entry not in allowed:
                hint = did_you_mean(str(entry), allowed)
                raise self.error(f"{name} has {_shown(entry)}, which is none of these{hint}")
        return frozenset(value)

    def objects(self, name: str, what: str) -> Mapping[str, Any]:
        """Return an object of objects by name, which has to have one.

        Raises:
            PinError: it is missing, empty or no object.
        """
        value = self.take(name)
        if not isinstance(value, dict) or not value:
            raise self.error(f"{name} has to be an object with {what}")
        return value

    def end(self) -> None:
        """Refuse what nothing asked for: most often a misspelt field.

        Raises:
            PinError: a field is left.
        """
        for name in self._left:
            hint = did_you_mean(name, self._taken)
            raise self.error(f"{name} is no field of it{hint}")


def _shown(value: Any) -> str:
    return (
        repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    )
