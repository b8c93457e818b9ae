"""Read a file that is not ours: YAML or JSON, with the place of each value."""

from dataclasses import dataclass
from pathlib import Path

from trainshed.documents.problems import Where
from trainshed.documents.yaml import DocumentError, Value, parse_document
from trainshed.errors import TrainshedError
from trainshed.lint.short_tags import SHORT_TAGS

# CloudFormation takes templates of 1 MB; indented by hand, the same may be longer.
_LARGEST_BYTES = 4_000_000
_MOST_VALUES = 400_000


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
        UnreadableFile: it is not there, or is no text, or as `parse_content`.
    """
    try:
        if path.is_dir():
            raise UnreadableFile(f"{path}: is a directory; name the files in it")
        with path.open("rb") as file:
            data = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # a zero byte in the name
        raise UnreadableFile(f"{str(path)!r}: {error}") from error
    if len(data) > _LARGEST_BYTES:
        raise UnreadableFile(f"{path}: is larger than {_LARGEST_BYTES // 1_000_000} MB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path}: is not text in UTF-8") from error
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
