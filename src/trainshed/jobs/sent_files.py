"""Small files of this machine that a job brings with it: its nodes unpack them before they start.

They travel with the job itself, so that they are there for every attempt, however long it waits,
and no bucket or permission has to be. That limits their size: on AWS Batch they are a variable of a
job definition, which may have 24 KiB, devices and all (AWS Batch user guide, "Service quotas").
Those of the types with most devices take 6 KiB.
"""

import base64
import bz2
import io
import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os.path import isdir, lexists, normpath, realpath
from pathlib import Path
from typing import NoReturn

from trainshed.errors import TrainshedError
from trainshed.files import ReadError, TooLarge, read_bytes

# trainshed-launch unpacks its value, and starts the command in the folder with the files.
VARIABLE = "TRAINSHED_FILES"
MOST_CHARACTERS = 18_000
# A folder that has more is not read to its end.
_MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFiles:
    """Files that go with a job.

    Attributes:
        names: their paths on the nodes, below the folder in which the command starts.
        archive: a tar archive of them, compressed by bzip2, in base64.
    """

    names: frozenset[str]
    archive: str


def pack(folder: Path, asked: Iterable[Path]) -> SentFiles:
    """Return files as they go with a job.

    Of a folder all files go, but hidden ones, and what Python compiled.

    Args:
        folder: that the folder on the nodes stands for.
        asked: files and folders in it, by their paths from there, or absolute ones.

    Raises:
        TrainshedError: there is no such file, it is not in the folder, it cannot be read, or they
            are too large.
    """
    folder = folder.resolve()
    paths = sorted({path for each in asked for path in _found(folder, each)})
    names = [path.relative_to(folder).as_posix() for path in paths]
    content = io.BytesIO()
    # Of the formats, this one takes names of any length at the least cost.
    with tarfile.TarFile(fileobj=content, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, name in zip(paths, names, strict=True):
            data = _read(path)
            member = tarfile.TarInfo(name)
            # Nothing that changes by itself: the same files are the same archive.
            member.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
            if content.tell() > _MOST_BYTES:
                raise _too_large(f"more than {_MOST_BYTES} bytes")
    # bzip2 makes less of so little text than xz does, and any Python reads it.
    packed = base64.b64encode(bz2.compress(content.getvalue())).decode()
    if len(packed) > MOST_CHARACTERS:
        raise _too_large(f"{len(packed)} characters when compressed, {MOST_CHARACTERS} at most")
    return SentFiles(names=frozenset(names), archive=packed)


def packed(archive: str) -> SentFiles:
    """Return the files that have gone with a job.

    Args:
        archive: of them.
    """
    content = io.BytesIO(bz2.decompress(base64.b64decode(archive)))
    with tarfile.TarFile(fileobj=content) as members:
        return SentFiles(names=frozenset(members.getnames()), archive=archive)


def _found(folder: Path, asked: Path) -> list[Path]:
    # A link by its own name, as the command names it.
    by_name, by_target = Path(normpath(folder / asked)), Path(realpath(folder / asked))
    if by_name.is_relative_to(folder):
        path = by_name
    elif by_target.is_relative_to(folder):
        path = by_target
    else:
        raise TrainshedError(
            f"--send {asked}: it is not below {folder}, where the command would find it; start "
            "trainshed in a folder that has it"
        )
    if not lexists(path):
        raise TrainshedError(f"--send {asked}: there is no such file or folder")
    # Path.is_dir raises where the folder around it must not be read.
    if not isdir(path):  # noqa: PTH112
        return [path]
    files = list(_files(path))
    if not files:
        raise TrainshedError(
            f"--send {asked}: the folder has no files to send; of a folder, hidden files and "
            "__pycache__ are left out"
        )
    return files


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and in those below, however deep."""
    for parent, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not _is_left_out(name)]
        for name in folders:
            if (path := Path(parent, name)).is_symlink():
                raise ReadError(
                    path, "it is a link to a folder; put a copy of the folder in its place"
                )
        yield from (Path(parent, name) for name in files if not _is_left_out(name))


def _refuse(error: OSError) -> NoReturn:
    raise ReadError(Path(error.filename), str(error.strerror).lower()) from error


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path, _MOST_BYTES)
    except TooLarge:
        raise _too_large(f"more than {_MOST_BYTES} bytes") from None


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def _too_large(size: str) -> TrainshedError:
    return TrainshedError(
        f"the files of --send are too large to go with a job: {size}; send less, or put them into "
        "the container image or on the file system (docs/jobs.md)"
    )
