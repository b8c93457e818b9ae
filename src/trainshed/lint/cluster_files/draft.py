"""A cluster file that is being written: its fields, and what its reader should know."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from trainshed.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A cluster file that is being written.

    Attributes:
        fields: as in the file.
        notes: what is not taken over, or is another way; each one line.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def set(self, *path_and_value: Any) -> None:
        """Give a field a value: `set("instance", "type", "p5.48xlarge")`."""
        *path, last, value = path_and_value
        inner = self.fields
        for key in path:
            inner = inner.setdefault(key, {})
        inner[last] = value

    def note(self, text: str) -> None:
        """Tell the reader something."""
        self.notes.append(text)

    def text(self, heading: str, order: Sequence[str]) -> str:
        """Return the file, its notes first.

        Args:
            heading: its first line.
            order: of the fields.
        """
        stream = StringIO()
        yaml = YAML()
        yaml.width = 10_000
        yaml.dump({key: self.fields[key] for key in order if key in self.fields}, stream)
        lines = (heading, *self.notes)
        return "".join(f"# {printable(line)}\n" for line in lines) + stream.getvalue()


def fits(pattern: str, value: object) -> bool:
    """Whether a text has the form that a field of cluster files asks for."""
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def mapping(value: object) -> Mapping[str, Any]:
    """Return a value that should be a mapping; an empty one where it is none."""
    return value if isinstance(value, dict) else {}
