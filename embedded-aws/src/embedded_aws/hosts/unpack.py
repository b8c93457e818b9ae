"""Unpack a layer of a container image: `python -I -S unpack.py FOLDER MODE <LAYER`.

It makes FOLDER, which has the layers below, its root first: no name and no link of the layer leads
out. MODE is that of `tarfile.open`.

OCI image specification, "Image Layer Filesystem Changeset": `.wh.NAME` removes NAME, `.wh..wh..opq`
all that the layers below have in its folder; owners are numbers; extended attributes are in PAX
headers. Device nodes are left out. In a user namespace there is one owner, root.
"""

import errno
import os
import shutil
import sys
import tarfile

# tarfile would import it when its place is no longer there.
import zlib
from pathlib import Path

_REMOVED, _OPAQUE = ".wh.", ".wh..wh..opq"
_ATTRIBUTE = "SCHILY.xattr."
# Left free on the disk.
_RESERVE_BYTES = 1 << 30


def main() -> None:
    """Unpack standard input."""
    policy = Path("/proc/self/setgroups")
    # Kernels without user namespaces do not have it.
    alone = policy.exists() and policy.read_text() == "deny\n"
    # All paths below are relative, so that nothing is written elsewhere in any case.
    os.chdir(sys.argv[1])
    os.chroot(".")
    os.umask(0o022)
    new: set[Path] = set()
    with tarfile.open(fileobj=sys.stdin.buffer, mode=sys.argv[2], errorlevel=2) as layer:  # type: ignore[call-overload]
        layer.extraction_filter = _as_own if alone else _as_it_is
        for member in layer:
            path = Path(os.path.normpath(f"/{member.name.lstrip('/')}")).relative_to("/")
            if path.name == _OPAQUE:
                _empty(path.parent, new)
            elif path.name.startswith(_REMOVED + _REMOVED):
                continue
            elif path.name.startswith(_REMOVED):
                _remove(path.with_name(path.name.removeprefix(_REMOVED)))
            elif path.name and (member.isfifo() or not member.isdev()):
                _unpack(layer, member, path)
                # Its folders may have no entries.
                new |= {path, *path.parents}
    # Whoever writes to the pipe is not stopped by what follows the archive's end.
    while sys.stdin.buffer.read(1 << 20):
        pass


def _unpack(layer: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    if member.size > shutil.disk_usage(".").free - _RESERVE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    if not (member.isdir() and path.is_dir() and not path.is_symlink()):
        _remove(path)
    member.name = str(path)
    if member.islnk():
        member.linkname = os.path.normpath(f"/{member.linkname.lstrip('/')}").lstrip("/")
    layer.extract(member, ".", numeric_owner=True)
    for key, value in member.pax_headers.items():
        if key.startswith(_ATTRIBUTE):
            written = value.encode("utf-8", "surrogateescape")
            os.setxattr(path, key.removeprefix(_ATTRIBUTE), written, follow_symlinks=False)


def _as_it_is(member: tarfile.TarInfo, _: str) -> tarfile.TarInfo:
    return member


def _as_own(member: tarfile.TarInfo, _: str) -> tarfile.TarInfo:
    return member.replace(uid=0, gid=0, deep=False)


def _remove(path: Path) -> None:
    """Remove what is there, if anything."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _empty(folder: Path, new: set[Path]) -> None:
    """Remove what a folder has but what is new."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path not in new:
            _remove(path)
        elif path.is_dir() and not path.is_symlink():
            _empty(path, new)


if __name__ == "__main__":
    try:
        main()
    except (OSError, tarfile.TarError, zlib.error) as problem:
        sys.exit(str(problem))
