"""Everything trainshed raises on purpose."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import partial


class TrainshedError(Exception):
    """A contradiction or a bad input, in words for the person who must act.

    The command line prints the message without a traceback and exits with `exit_code`.

    Args:
        lines: of the message.
    """

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.lines = lines

    def __str__(self) -> str:
        """Return the message, with its line breaks."""
        return "\n".join(self.lines)


class Failure(TrainshedError):
    """Nothing is wrong with the input, and still it cannot be done."""

    exit_code = 1


class UnknownName(TrainshedError):
    """A name that is not among the known ones; the message lists them, the nearest first.

    Args:
        kind: what the name should have been, for instance `instance type`.
        name: the name as it was given.
        known: the names that exist.
        other: other words for them, which may be what was meant but are not listed.
        meant: what was probably meant; by default the name that is spelled most like it.
        listed_by: command that lists them, for the message of names that are too many.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        other: Iterable[str] = (),
        meant: str | None = None,
        listed_by: str | None = None,
    ) -> None:
        self.kind, self.name = kind, name
        names = sorted(known, key=partial(_unlike, name))
        near = f"; did you mean {meant}?" if meant else did_you_mean(name, (*other, *names))
        known_ones = f"all: {listed_by}" if listed_by else f"known: {', '.join(names) or 'none'}"
        super().__init__(f"{kind} {name!r} is not known{near} ({known_ones})")


def one_line(text: str) -> str:
    """Return a foreign message as a part of ours: on one line, without a period."""
    return " ".join(text.split()).rstrip(".")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name most like `name`, or None when nothing is near."""
    folded = {entry.casefold(): entry for entry in known}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return folded[found[0]] if found else None


def _unlike(name: str, other: str) -> float:
    return -SequenceMatcher(None, name.casefold(), other.casefold()).ratio()


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean X?` for the nearest known name, or an empty text."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""
