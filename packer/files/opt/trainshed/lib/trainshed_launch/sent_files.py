"""Files that were sent with the job: the command starts in a folder that has them."""

from __future__ import annotations

import base64
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import normpath
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from trainshed_launch.errors import LaunchError

# `trainshed job submit` sets it: a tar archive, compressed by bzip2, in base64.
VARIABLE = "TRAINSHED_FILES"


@contextmanager
def unpacked(archive: str, folder: Path | None = None) -> Iterator[Path | None]:
    """Unpack the files of a job for as long as it runs; give their folder, or None without files.

    Args:
        archive: value of the variable; empty when the job has no files.
        folder: of the main node, on a child: mpirun starts its processes on all nodes in a folder
            of the same path. Nodes of a rehearsal are on one machine and share it.

    Raises:
        LaunchError: the archive cannot be read.
    """
    if not archive:
        yield None
        return
    if folder and folder.exists():
        yield folder
        return
    if folder:
        folder.mkdir(parents=True)
    else:
        folder = Path(mkdtemp(prefix="trainshed-files-"))
    try:
        _unpack(archive, folder)
        yield folder
    finally:
        # What the command left running may still write there.
        rmtree(folder, ignore_errors=True)


def _unpack(archive: str, folder: Path) -> None:
    try:
        packed = io.BytesIO(base64.b64decode(archive, validate=True))
        with tarfile.open(fileobj=packed, mode="r:bz2") as files:
            for member in files:
                path = Path(normpath(folder / member.name))
                content = files.extractfile(member) if member.isreg() else None
                if content is None or folder not in path.parents:
                    raise tarfile.ExtractError(f"{member.name!r} is not a file below its folder")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
                path.chmod(member.mode)
    except (ValueError, tarfile.TarError, EOFError, OSError) as error:
        raise LaunchError(
            f"{VARIABLE} cannot be unpacked: {error}; send files by trainshed job submit --send"
        ) from error
