"""The file system of a container: the files of an image, and what Docker mounts there.

Only the new process of a container changes its mounts, in a namespace of its own. Every path of the
image is looked up when the image's root is the process's, so that no link of the image leads out.

Docker's documentation and OCI runtime specification: /proc, /sys read-only, /dev with its devices
and links, /dev/shm of 64 MiB, the host's resolv.conf, kernel settings read-only; a volume's folder
and its place are made if they are not there.
"""

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# mount(2), umount2(2).
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
_SAFE = _NO_SUID | _NO_DEVICES | _NO_PROGRAMS
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 32, 4096, 16384, 1 << 18
_DETACH = 2
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_OF_HOST = ("/etc/hosts", "/etc/resolv.conf")
_KERNEL_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A file or folder of the host in a container.

    Attributes:
        source: path on the host.
        target: path in the container.
        read_only: the container cannot write to it.
        mounted: the node mounts it, so that this machine's own files do not have it.
    """

    source: str
    target: str
    read_only: bool = False
    mounted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A file system in memory.

    Attributes:
        target: path in the container.
        mib: its size.
    """

    target: str
    mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The file system of a container.

    Attributes:
        image: folder with the image's files, which stays as it is; None where `folder` has a copy.
        folder: of the container, with the empty folders that `enter_files` names.
        bound: files, folders and devices of the host.
        memory: file systems in memory; a later one counts.
        sys_class: folder of the host with more of /sys/class, or other.
        read_only: nothing of the image can be changed.
    """

    image: str | None
    folder: str
    bound: Sequence[Bound] = ()
    memory: Sequence[Memory] = ()
    sys_class: str | None = None
    read_only: bool = False


def enter_files(files: Files, work: str, *, privileged: bool) -> None:
    """Make a file system that of this process, which has a mount namespace of its own.

    Args:
        files: `folder` has a folder `root`; for an image also `changes` and `work`.
        work: working directory, made if it is not there, also where nothing can be changed then.
        privileged: the kernel's settings can be changed.

    Raises:
        OSError: something cannot be mounted; the message says what.
    """
    call("mount", None, "/", None, _RECURSIVE | _PRIVATE, None)
    folder, root = Path(files.folder), f"{files.folder}/root"
    if files.image:
        layers = f"lowerdir={files.image},upperdir={folder}/changes,workdir={folder}/work"
        _mount("overlay", root, "overlay", 0, layers)
    else:
        _mount(root, root, None, _BIND)
    devices = [Bound(source=f"/dev/{name}", target=f"/dev/{name}") for name in _DEVICES]
    own = [Bound(source=path, target=path) for path in _OF_HOST if Path(path).exists()]
    sources = [(each, os.open(each.source, os.O_PATH)) for each in (*devices, *own, *files.bound)]
    sys_class = os.open(files.sys_class, os.O_PATH) if files.sys_class else None
    os.chdir(root)
    # pivot_root(2): the old root lies over the new one until it is unmounted. Paths lead into the
    # new one already.
    call("pivot_root", ".", ".")
    _mount_kernel_files(files.memory)
    if sys_class is not None:
        layers = f"lowerdir=/proc/self/fd/{sys_class}:/sys/class"
        _mount("overlay", "/sys/class", "overlay", _SAFE | _READ_ONLY, layers)
        os.close(sys_class)
    for bound, source in sources:
        _bind(bound, source)
    call("umount2", ".", _DETACH)
    Path(work).mkdir(parents=True, exist_ok=True)
    if not privileged:
        for path in filter(os.path.exists, _KERNEL_SETTINGS):
            _mount(path, path, None, _BIND | _RECURSIVE)
            _mount(path, path, None, _REMOUNT | _BIND | _READ_ONLY)
    if files.read_only:
        _mount("/", "/", None, _REMOUNT | _BIND | _READ_ONLY)
    os.chdir(work)


def _mount_kernel_files(memory: Sequence[Memory]) -> None:
    for path in ("/proc", "/sys", "/dev"):
        Path(path).mkdir(parents=True, exist_ok=True)
    _mount("proc", "/proc", "proc", _SAFE)
    _mount("sysfs", "/sys", "sysfs", _SAFE | _READ_ONLY)
    _mount("tmpfs", "/dev", "tmpfs", _NO_SUID, "mode=755,size=64k")
    Path("/dev/pts").mkdir()
    _mount("devpts", "/dev/pts", "devpts", _NO_SUID | _NO_PROGRAMS, "newinstance,ptmxmode=0666")
    for name, target in _LINKS.items():
        Path("/dev", name).symlink_to(target)
    for each in memory:
        Path(each.target).mkdir(parents=True, exist_ok=True)
        _mount("tmpfs", each.target, "tmpfs", _SAFE, f"mode=1777,size={each.mib}m")


def _bind(bound: Bound, source: int) -> None:
    """Mount an open file or folder; its place is looked up in the container."""
    path = f"/proc/self/fd/{source}"
    # A link may lead to what is not there.
    target = Path(bound.target).resolve()
    if Path(path).is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(path, str(target), None, _BIND | _RECURSIVE)
    if bound.read_only:
        # mount_namespaces(7): what a mount from outside forbids cannot be allowed in a user
        # namespace. These numbers are those of mount(2).
        kept = os.statvfs(target).f_flag & _SAFE
        _mount(path, str(target), None, _REMOUNT | _BIND | _READ_ONLY | kept)
    os.close(source)


def _mount(
    source: str, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    call("mount", source, target, kind, flags, options)


def call(name: str, *arguments: str | int | None) -> None:
    """Call a function of the C library that returns 0 if all is well.

    Raises:
        OSError: it did not; the message names it and its texts.
    """
    encoded = [each.encode() if isinstance(each, str) else each for each in arguments]
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*encoded):
        number = ctypes.get_errno()
        said = " ".join([name, *(each for each in arguments if isinstance(each, str))])
        raise OSError(f"{said}: {os.strerror(number).lower()}")
