"""Reading pins.json, and refusing what must not get into an AMI.

Nothing is installed as "latest", and nothing without a checksum or the fingerprint of the key that
signs it. That is checked here, before Packer or a script sees a pin.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from trainshed.app.sources import packer_folder
from trainshed.documents.messages import problems_of
from trainshed.documents.problems import InvalidDocument, Position, Problem, Where
from trainshed.documents.problems import Path as FieldPath
from trainshed.documents.yaml import DocumentError, YamlDocument, parse_document
from trainshed.errors import TrainshedError
from trainshed.files import MissingFile, read_text
from trainshed.pins.agreement import disagreements
from trainshed.pins.model import Pins


class PinError(InvalidDocument):
    """The list of pins says something that cannot be baked, or leaves something out."""


def read_pins(path: Path) -> Pins:
    """Read pins.json.

    Raises:
        PinError: with every mistake in it, and its line.
        TrainshedError: the file cannot be read.
    """
    try:
        text = read_text(path)
    except MissingFile as error:
        raise TrainshedError(f"{error}; it is pins.json of the folder packer/") from error
    try:
        return parse_pins(json.loads(text, object_pairs_hook=_mapping))
    except json.JSONDecodeError as error:
        raise _wrong(path, f"is not JSON from column {error.colno} on", error.lineno) from error
    except RecursionError as error:
        raise _wrong(path, "is nested too deeply") from error
    except ValueError as error:  # more digits than Python reads
        raise _wrong(path, "has a number that is too large") from error
    except DocumentError as error:
        raise _repeated_key(path, text, error) from None
    except PinError as error:
        where = Where(file=str(path), positions=_positions(text))
        raise PinError(replace(problem, where=where) for problem in error.problems) from None


def project_pins() -> Pins:
    """Return the pins of the user's project, or the shipped ones; read once.

    Raises:
        PinError: with every mistake in the file, and its line.
        TrainshedError: the file cannot be read.
    """
    return _once(packer_folder().resolve() / "pins.json")


_once = cache(read_pins)


def _wrong(path: Path, message: str, line: int | None = None) -> PinError:
    where = Where(file=str(path), positions={(): Position(line)} if line else {})
    return PinError([Problem(where=where, path=(), message=message)])


def _mapping(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that is given twice, of which `json` takes the last."""
    found = dict[str, object]()
    for key, value in pairs:
        if key in found:
            raise DocumentError(f"the key {key!r} is given twice")
        found[key] = value
    return found


def _repeated_key(path: Path, text: str, repeated: DocumentError) -> PinError:
    try:
        _document(text)
    except DocumentError as error:
        repeated = error  # as above, with its line
    return _wrong(path, f"{repeated}; leave one of them", repeated.line)


def _document(text: str) -> YamlDocument:
    """Read JSON as YAML, which it is apart from tabs; its texts have none."""
    return parse_document(text.replace("\t", " "))


def _positions(text: str) -> Mapping[FieldPath, Position]:
    """Return where each value stands; nothing with too many, or with too large a number."""
    try:
        return _document(text).positions
    except DocumentError:
        return {}


def parse_pins(document: object) -> Pins:
    """Turn what JSON gave into pins.

    Raises:
        PinError: with every mistake.
    """
    where = Where(file="pins.json")
    try:
        pins = Pins.model_validate(document)
    except ValidationError as error:
        raise PinError(problems_of(error, Pins, where)) from None
    problems = [
        Problem(where=where, path=path, message=message) for path, message in disagreements(pins)
    ]
    if problems:
        raise PinError(problems)
    return pins
