"""Small files of this machine that a job brings with it: its nodes unpack them before they start.

They travel with the job itself, so that they are there for every attempt, however long it waits,
and no bucket or permission has to be. That limits their size: on AWS Batch they are a variable of a
job definition, which may have 24 KiB, devices and all (AWS Batch user guide, "Service quotas").
Those of the types with most devices take 6 KiB.
"""

import base64
import bz2
import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainshed.errors import TrainshedError
from trainshed.files import read_bytes

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
        TrainshedError: there is no such file, it is not in the folder, or they are too large.
    """
    paths = {path: path.relative_to(folder.resolve()) for path in _found(folder, asked)}
    if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
        raise _too_large(f"more than {_MOST_BYTES} bytes")
    content = io.BytesIO()
    with tarfile.TarFile(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, name in sorted(paths.items()):
            member = tarfile.TarInfo(name.as_posix())
            # Nothing that changes by itself: the same files are the same archive.
            member.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            data = read_bytes(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    # bzip2 makes less of so little text than xz does, and any Python reads it.
    packed = base64.b64encode(bz2.compress(content.getvalue())).decode()
    if len(packed) > MOST_CHARACTERS:
        raise _too_large(f"{len(packed)} characters when compressed, {MOST_CHARACTERS} at most")
    return SentFiles(names=frozenset(name.as_posix() for name in paths.values()), archive=packed)


def _found(folder: Path, asked: Iterable[Path]) -> Iterator[Path]:
    for each in asked:
        path = (folder / each).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise TrainshedError(
                f"--send {each}: it is not below {folder.resolve()}, where the command would find "
                "it; start trainshed in a folder that has it"
            )
        if path.is_dir():
            inside = (found for found in path.rglob("*") if found.is_file())
            yield from (found for found in inside if not _is_left_out(found.relative_to(path)))
        elif path.is_file():
            yield path
        else:
            raise TrainshedError(f"--send {each}: there is no such file or folder")


def _is_left_out(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _too_large(size: str) -> TrainshedError:
    return TrainshedError(
        f"the files of --send are too large to go with a job: {size}; send less, or put them into "
        "the container image or on the file system (docs/jobs.md)"
    )
