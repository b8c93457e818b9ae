"""Read a file that is not ours: YAML or JSON, with the place of each value."""

from dataclasses import dataclass
from pathlib import Path

from trainshed.documents.problems import Where
from trainshed.documents.yaml import DocumentError, Value, parse_document
from trainshed.errors import TrainshedError
from trainshed.files import MIB, ReadError, read_text
from trainshed.lint.short_tags import SHORT_TAGS

# Of templates CloudFormation takes 1 MB and 500 resources (its user guide, "quotas").
_LARGEST = MIB
_MOST_VALUES = 50_000


class UnreadableFile(TrainshedError):
    """A file that cannot be judged: it cannot be read, or is of no kind that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a file holds.

    Attributes:
        value: plain; short forms as `!Ref X` are `{"Ref": "X"}`.
        where: the file, and where its values stand.
    """

    value: dict[str, Value]
    where: Where


def read_content(path: Path) -> Content:
    """Read one file.

    Raises:
        UnreadableFile: `read_text` refuses it, or as `parse_content`.
    """
    try:
        text = read_text(path, _LARGEST, "utf-8-sig")
    except ReadError as error:
        raise UnreadableFile(str(error)) from error
    return parse_content(text, str(path))


def parse_content(text: str, file: str) -> Content:
    """Return what a text holds.

    Args:
        text: YAML or JSON.
        file: its name, for messages.

    Raises:
        UnreadableFile: it is neither YAML nor JSON, or no mapping.
    """
    try:
        document = parse_document(text, tags=SHORT_TAGS, most_values=_MOST_VALUES)
    except DocumentError as error:
        line = f":{error.line}" if error.line else ""
        raise UnreadableFile(f"{file}{line}: {error}") from error
    if document.value is None:
        raise UnreadableFile(f"{file}: is empty")
    if not isinstance(document.value, dict):
        raise UnreadableFile(f"{file}: is not a mapping of keys to values")
    return Content(value=document.value, where=Where(file=file, positions=document.positions))
