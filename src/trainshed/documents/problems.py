"""The mistakes in a file that users write, and where they are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from trainshed.errors import TrainshedError

_LONGEST_KEY = 60
# The way to a value: keys and list indexes, for instance ("instance", "nodes", "max").
Path = tuple[str | int, ...]


class Position(NamedTuple):
    """Line and column of a value in a file, each from 1; of its key where it has one."""

    line: int
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where the values of one file stand.

    Attributes:
        file: path as given on the command line, or the model's name when it came from Python.
        positions: by path; empty when it came from Python.
    """

    file: str
    positions: Mapping[Path, Position] = field(default_factory=dict)

    def position(self, path: Path) -> Position | None:
        """Return the position of a value, or of the nearest enclosing one that is in the file."""
        while path and path not in self.positions:
            path = path[:-1]
        return self.positions.get(path)

    def place(self, path: Path) -> str:
        """Return `file:line` of a value, or `file` where there are no lines."""
        position = self.position(path)
        return f"{self.file}:{position.line}" if position else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake.

    Attributes:
        where: the file it is in.
        path: the field.
        message: what is wrong, the value seen, what is allowed, the nearest valid value.
    """

    where: Where
    path: Path
    message: str

    def __str__(self) -> str:
        """Return `file:line: field: message`."""
        field_name = ".".join(map(_key, self.path))
        return ": ".join(
            part for part in (self.where.place(self.path), field_name, self.message) if part
        )


def _key(key: str | int) -> str:
    """Return a key as messages show it: on one line, whatever is in it."""
    text = str(key)
    plain = text.isprintable() and text.strip() and len(text) <= _LONGEST_KEY
    return text if plain else repr(text[:_LONGEST_KEY])


class InvalidDocument(TrainshedError):
    """One or more files say something wrong, or contradict each other.

    Args:
        problems: all of them; the message has one line each.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(*map(str, self.problems))
