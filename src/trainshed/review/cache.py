"""Remember what a review would otherwise make or ask again, by the content it depends on."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

from trainshed.files import LARGEST_MADE, ReadError, read_bytes
from trainshed.files.user_cache import user_cache_folder

_DAYS = 30
# Change it with the form of what is remembered.
_FORM = 1
Say = Callable[[str], None]


class Cache:
    """Texts by key, in a folder of the user's own.

    Any number of reviews may use it at the same time: what is in it is replaced as a whole, and
    what is damaged counts as missing.

    Args:
        folder: where it is; made when needed.
        say: called once when nothing can be written there.
    """

    def __init__(self, folder: Path, say: Say) -> None:
        self._folder, self._say, self._writable = folder, say, True

    def read(self, key: str) -> str | None:
        """Return the text with a key; None when it is missing or damaged."""
        file = self._file(key)
        try:
            content = read_bytes(file, LARGEST_MADE)
        except ReadError:
            return None
        checksum, _, text = content.partition(b"\n")
        if checksum != _checksum(text):
            return None
        # What is used stays.
        with suppress(OSError):
            os.utime(file)
        return text.decode()

    def write(self, key: str, text: str) -> None:
        """Remember a text, if the folder can be written."""
        content = text.encode()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self._folder, delete=False) as new:
                try:
                    new.write(_checksum(content) + b"\n" + content)
                    new.close()
                    Path(new.name).replace(self._file(key))
                except BaseException:
                    Path(new.name).unlink()
                    raise
        except OSError as error:
            if self._writable:
                self._say(f"nothing is remembered: {self._folder}: {error.strerror}")
            self._writable = False

    def remove_unused(self) -> None:
        """Remove what nobody has used for 30 days."""
        oldest = time() - _DAYS * 24 * 60 * 60
        for file in self._files():
            with suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from self._folder.iterdir()

    def _file(self, key: str) -> Path:
        return self._folder / key


def user_cache(say: Say) -> Cache:
    """Return the cache of the user, without what is too old.

    Args:
        say: called once when nothing can be written there.
    """
    cache = Cache(user_cache_folder("review"), say)
    cache.remove_unused()
    return cache


def key(*parts: object) -> str:
    """Return the key of what depends on some values, which JSON can hold, and on nothing else."""
    return sha256(json.dumps([_FORM, *parts], sort_keys=True).encode()).hexdigest()


def _checksum(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()
