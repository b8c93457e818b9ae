"""The folder of a rehearsal, in the temporary folder."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

_PREFIX = "trainshed-rehearsal-"
# Locked, until the process ends in whatever way.
_IN_USE = "in-use"


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a rehearsal keeps its files.

    Attributes:
        folder: holds nothing else.
    """

    folder: Path

    @property
    def log(self) -> Path:
        """The log of the embedded AWS, which stays."""
        return self.folder / "rehearsal.log"

    @property
    def temporary(self) -> Path:
        """The folder for what goes away at the end."""
        return self.folder / "temporary"


@contextmanager
def workplace() -> Iterator[Workplace]:
    """Make a folder for a rehearsal; at the end only a log stays, and after Ctrl-C nothing.

    What killed processes left goes away, too.
    """
    _remove_left_over()
    made = Workplace(Path(mkdtemp(prefix=_PREFIX)))
    new, mark = made.folder / "new", made.folder / _IN_USE
    with new.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Nobody sees it before it is locked.
        new.rename(mark)
        made.temporary.mkdir()
        try:
            yield made
        except KeyboardInterrupt:
            made.log.unlink(missing_ok=True)
            raise
        finally:
            rmtree(made.temporary)
            mark.unlink()
            if not made.log.exists():
                made.folder.rmdir()


def _remove_left_over() -> None:
    for mark in Path(gettempdir()).glob(f"{_PREFIX}*/{_IN_USE}"):
        # It is in use, or another user's, or has just been removed.
        with suppress(OSError), mark.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(mark.parent)
