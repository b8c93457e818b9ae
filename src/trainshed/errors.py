"""Everything trainshed raises on purpose."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class TrainshedError(Exception):
    """A contradiction or a bad input, told in words for the person who must act.

    The command line prints the message without a traceback and exits with `exit_code`.
    """

    exit_code = 2


class UnknownName(TrainshedError):
    """A name that is not among the known ones.

    Args:
        kind: what the name should have been, for instance `instance type`.
        name: the name as it was given.
        known: the names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"{kind} {name!r} is not known{did_you_mean(name, tuple(known))}")


def one_line(text: str) -> str:
    """Return somebody else's words as a part of a message: on one line, without a period."""
    return " ".join(text.split()).rstrip(".")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name most like `name`, or None when nothing is near."""
    folded = {entry.casefold(): entry for entry in known}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return folded[found[0]] if found else None


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean X?` for the nearest known name, or an empty text."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""
