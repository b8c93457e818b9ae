"""How much of a Lustre file system is used: by the files of its folder, and by what a control says.

Lustre manual, "Checking Free Space": blocks count, so that a file's holes do not; names and folders
are on the metadata target. The control stands for data that do not fit on this machine. Nothing is
compressed, and no write fails.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from weakref import WeakKeyDictionary

from moto.backends import get_backend
from werkzeug import Request, Response

from embedded_aws.controls import STORAGE_PATH
from embedded_aws.fsx.lustre_file_system import LustreFileSystem
from embedded_aws.hosts.service import hosts
from embedded_aws.offered_controls import ControlError, control, posted
from embedded_aws.settings import ServerSettings
from embedded_aws.shared_storage import folder_of

_GIB = 2**30
# stat(2): the unit of st_blocks.
_BLOCK = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What is used of a file system.

    Attributes:
        size: in bytes.
        changed: when it became so at the latest, by the clock of the machine; None if it is new.
    """

    size: int
    changed: datetime | None


# What the control has said.
_filled: WeakKeyDictionary[LustreFileSystem, Use] = WeakKeyDictionary()


def use_of(file_system: LustreFileSystem) -> Use:
    """Return what is used of a file system now."""
    filled = _filled.get(file_system, Use(size=0, changed=None))
    times = [filled.changed.timestamp()] if filled.changed else []
    sizes: dict[int, int] = {}
    if running := hosts():
        folder = str(folder_of(running, file_system.file_system_id))
        for stat, is_file in _walk(folder):
            times.append(stat.st_ctime)
            if is_file:
                # A file of several names is one.
                sizes[stat.st_ino] = stat.st_blocks * _BLOCK
    return Use(
        size=filled.size + sum(sizes.values()),
        changed=datetime.fromtimestamp(max(times), UTC) if times else None,
    )


def _walk(folder: str) -> Iterator[tuple[os.stat_result, bool]]:
    """Yield a folder, its files and folders, and whether each is a file.

    What goes meanwhile, or belongs to a user whose folders are closed, is left out.
    """
    with suppress(FileNotFoundError, PermissionError):
        yield Path(folder).stat(), False
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _walk(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        yield entry.stat(follow_symlinks=False), True


@control("POST", STORAGE_PATH)
def _fill(request: Request, settings: ServerSettings) -> Response:
    found = posted(request)
    if not isinstance(found, list):
        raise ControlError("this is not a list of file systems with the data that they hold")
    for file_system, size in [_read(each, settings) for each in found]:
        _filled[file_system] = Use(size=size, changed=datetime.now(UTC))
    return Response(status=HTTPStatus.NO_CONTENT)


def _read(found: object, settings: ServerSettings) -> tuple[LustreFileSystem, int]:
    """Return a file system and how many bytes it is to hold.

    Raises:
        ControlError: there is none, or it does not have that much room.
    """
    if not (isinstance(found, Mapping) and found.keys() == {"file_system", "gib"}):
        raise ControlError("each of them must be an object with file_system and gib")
    file_system, gib = _file_system(found["file_system"], settings), found["gib"]
    capacity = file_system.params["StorageCapacity"]
    if type(gib) not in (int, float) or not 0 <= gib <= capacity:
        raise ControlError(f"gib is a number from 0 to {capacity}, got {gib!r}")
    return file_system, int(gib * _GIB)


def _file_system(name: object, settings: ServerSettings) -> LustreFileSystem:
    for account in settings.accounts:
        for region in settings.regions:
            found = get_backend("fsx")[account][region].file_systems.get(str(name))
            if isinstance(found, LustreFileSystem) and "StorageCapacity" in found.params:
                return found
    raise ControlError(f"there is no Lustre file system {name!r} of a fixed size")
