"""Scalars of a file as values: one of another form is unknown, never guessed."""

from trainshed.documents.messages import shown
from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.lint.model import Given, Known, Unknown

# YAML 1.1, which AWS's tools read, has all of these; CloudFormation takes texts for flags, too.
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def text(value: Value, path: Path) -> Given[str]:
    """Return a text; a number or a flag as AWS's tools write it."""
    match value:
        case None:
            return None
        case bool():
            return Known(value=str(value).lower(), path=path)
        case str() | int() | float():
            return Known(value=str(value), path=path)
    return Unknown(why=f"{shown(value)} is not text", path=path)


def whole(value: Value, path: Path) -> Given[int]:
    """Return a whole number, also of a text of digits."""
    if value is None:
        return None
    try:
        if not isinstance(value, bool | list | dict):
            return Known(value=int(str(value)), path=path)
    except ValueError:
        pass
    return Unknown(why=f"{shown(value)} is not a whole number", path=path)


def flag(value: Value, path: Path) -> Given[bool]:
    """Return true or false, also of a text such as `yes`."""
    if value is None:
        return None
    known = _FLAGS.get(str(value).lower())
    if known is None or isinstance(value, list | dict):
        return Unknown(why=f"{shown(value)} is neither true nor false", path=path)
    return Known(value=known, path=path)
