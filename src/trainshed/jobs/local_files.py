"""Files of this machine that a command names: a job on nodes does not find them."""

import re
from collections.abc import Collection, Iterator, Sequence
from os.path import isfile, normpath
from pathlib import Path, PurePath

# Between the words of a script, and of an option and its value.
_BETWEEN = re.compile(r"[\s=;&|()<>'\"]+")


def names_a_file(word: str) -> bool:
    """Return whether a word names a file of this machine."""
    # Path.is_file raises where the word is longer than a name may be, as a script is.
    return isfile(word)  # noqa: PTH113


def is_sent(word: str, sent: Collection[str]) -> bool:
    """Return whether a word names a file that goes with the job, by its path on the nodes."""
    return normpath(word) in sent


def local_files(command: Sequence[str], sent: Collection[str] = ()) -> list[str]:
    """Return the words of a command that name files here which are hardly there.

    Those are relative names with a slash or a dot, since others are mostly programs, and absolute
    ones below the working directory or the home directory.

    Args:
        command: without the launcher.
        sent: files that go with the job.
    """
    return list(dict.fromkeys(word for word in _named(command) if not is_sent(word, sent)))


def _named(command: Sequence[str]) -> Iterator[str]:
    # A home of / has every path below it.
    own = [path for path in (Path.cwd(), Path("~").expanduser()) if path != Path("/")]
    for word in (word for argument in command for word in _BETWEEN.split(argument)):
        path = PurePath(word)
        if path.is_absolute():
            ours = any(path.is_relative_to(each) for each in own)
        else:
            ours = "/" in word or "." in word
        if ours and names_a_file(word):
            yield word


def local_files_warning(command: Sequence[str], sent: Collection[str] = ()) -> str | None:
    """Return what to tell somebody whose command names files of this machine; None otherwise."""
    found = local_files(command, sent)
    if not found:
        return None
    are = "are files" if len(found) > 1 else "is a file"
    return (
        f"warning: {', '.join(found)} {are} of this machine: a job of the cluster finds what is in "
        "its container image, on its file system, or sent with it by --send (docs/jobs.md)"
    )
