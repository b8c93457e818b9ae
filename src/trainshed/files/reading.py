"""Read files that may come from anybody: regular ones, of limited size, not out of their project.

Whoever writes a project could make its files links to private ones, of which an error would show
lines, or to devices and pipes, which never end.
"""

import os
import stat
from pathlib import Path

from trainshed.errors import TrainshedError

KIB = 1024
MIB = 1024 * KIB
# What programs write for programs: logs, manifests, cloud assemblies.
LARGEST_MADE = 64 * MIB
# What people write.
_LARGEST_WRITTEN = MIB
# What the folder of a project has, the widest first: a repository may hold several apps.
_MARKS = (".git", "cdk.json")


class ReadError(TrainshedError):
    """A file that cannot be read, or must not be.

    Args:
        path: as it was given.
        reason: why not, in words that follow "cannot be read".
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{path} cannot be read: {reason}")


class MissingFile(ReadError):
    """A file that is not there."""


class FoundDirectory(ReadError):
    """A directory in place of a file."""


class TooLarge(ReadError):
    """A file that has more bytes than it may."""


def read_text(path: Path, largest: int = _LARGEST_WRITTEN, encoding: str = "utf-8") -> str:
    """Return the text of a file, with lines that end in a newline character alone.

    Args:
        path: of the file.
        largest: that it may be, in bytes.
        encoding: UTF-8, in one of the forms that Python has.

    Raises:
        ReadError: as `read_bytes`, or it is not text.
    """
    try:
        text = read_bytes(path, largest).decode(encoding)
    except UnicodeDecodeError:
        raise ReadError(path, "not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path, largest: int = _LARGEST_WRITTEN) -> bytes:
    """Return the content of a file.

    Args:
        path: of the file.
        largest: that it may be, in bytes.

    Raises:
        MissingFile: it is not there.
        TooLarge: it has more bytes.
        ReadError: it is no regular file, or a link that leads out of its project, or the system
            refuses it.
    """
    try:
        # Before it is opened: to open a device may already do something.
        _refuse_special(path, path.stat().st_mode)
        target = path.resolve(strict=True)
        _refuse_links_out(path, target)
        # Without O_NONBLOCK, opening a pipe that has just taken the file's place waits forever.
        opened = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            _refuse_special(path, os.fstat(opened).st_mode)
            # Some files of the system are regular and say that they are empty.
            content = file.read(largest + 1)
    except FileNotFoundError:
        raise MissingFile(path, "no such file or directory") from None
    except OSError as error:
        raise ReadError(path, (error.strerror or str(error)).lower()) from error
    except ValueError as error:  # a zero byte in the name
        raise ReadError(Path(repr(str(path))), str(error)) from error
    if len(content) > largest:
        raise TooLarge(path, f"it is larger than {_size(largest)}")
    return content


def _refuse_special(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise FoundDirectory(path, "it is a directory; name a file in it")
    if not stat.S_ISREG(mode):
        raise ReadError(path, "it is a pipe or a device; write its content into a file")


def _refuse_links_out(path: Path, target: Path) -> None:
    """Refuse a link in a project that leads to a file outside of it."""
    folder = Path()
    for part in path.absolute().parts:
        step = folder / part
        if step.is_symlink():
            project = _project(folder)
            if project and not target.is_relative_to(project):
                raise ReadError(
                    path,
                    f"a link leads out of {project}, to {target}; name that file itself, or put a "
                    "copy in place of the link",
                )
            step = step.resolve()
        folder = folder.parent if part == ".." else step


def _project(folder: Path) -> Path | None:
    """Return the project that a folder is in: the working directory where nothing marks it."""
    around = (folder, *folder.parents)
    marked = (each for mark in _MARKS for each in around if (each / mark).exists())
    here = Path.cwd()
    return next(marked, here if here in around else None)


def _size(count: int) -> str:
    return f"{count // MIB} MB" if count >= MIB else f"{count // KIB} KB"
