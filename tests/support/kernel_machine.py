"""A virtual machine with a kernel of Debian: for what the kernel of the tests' machine may lack.

`make tools` unpacks the kernel, mdadm and NFS into the user's cache; Python, util-linux and
xfsprogs are this machine's. All of it is one initial file system in memory, in which Python is the
first process: nothing is installed, and there is no systemd and no udev. QEMU emulates the
processor, so that no test depends on KVM; a boot takes some seconds. There is no network but the
machine's own.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

QEMU = "qemu-system-x86_64"
FILES = Path(__file__).parents[2] / "packer" / "files"
_MINUTES = 5
_PROGRAMS = (
    *("blkid", "cat", "chmod", "findmnt", "losetup", "mdadm", "mkdir", "mkfs.ext4", "mkfs.xfs"),
    *("mount", "python3", "sh", "stat", "umount"),
)
# Loaded in this order, after what each depends on: the disks, and the file systems.
_MODULES = ("virtio_pci", "virtio_scsi", "sd_mod", "nvme", "raid0", "xfs", "ext4", "crc32c_generic")
_LIBRARIES = re.compile(r"(/\S+) \(0x")
_NOT_IN_PYTHON = ("dist-packages", "idlelib", "lib2to3", "test", "ensurepip", "site-packages")

_OF_PYTHON = (".py", ".pyc", ".so")


class NoKernel(Exception):
    """There is no kernel here that could be booted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a script did in the machine.

    Attributes:
        code: its exit code.
        output: what it printed.
    """

    code: int
    output: str


class KernelMachine:
    """Boots scripts in a virtual machine.

    Args:
        folder: for its files.

    Raises:
        NoKernel: the cache has none.
    """

    def __init__(self, folder: Path) -> None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self._folder, self._root = folder, cache / "trainshed" / "kernel" / "root"
        kernels = sorted(self._root.glob("boot/vmlinuz-*"))
        if not kernels:
            raise NoKernel(f"there is no kernel in {self._root.parent}: run `make tools`")
        self._kernel = kernels[0]

    def boot(
        self,
        script: str,
        *,
        disks: Sequence[Path] = (),
        nvme: Path | None = None,
        files: dict[str, str] | None = None,
        programs: Iterable[str] = (),
        modules: Iterable[str] = (),
    ) -> Ran:
        """Run a shell script in a machine that boots for it, as root, and power off.

        Args:
            script: what to run; node programs are in /opt/trainshed.
            disks: images of SCSI disks, which the kernel may name in any order.
            nvme: image of an NVMe disk, whose serial number is `vol0123456789abcdef0`.
            files: contents by absolute path.
            programs: that the machine has beside the usual ones.
            modules: of the kernel, which it loads beside the usual ones.
        """
        archive, output = self._folder / "initrd", self._folder / "output"
        shutil.copyfile(self._base(*programs), archive)
        loaded = self._loaded((*_MODULES, *modules))
        own = {"/init": _INIT.format(modules=loaded), "/script": script, **(files or {})}
        with archive.open("ab") as stream:
            stream.write(_archive((path, text.encode(), 0o755) for path, text in own.items()))
            found = ((f"/modules/{name}.ko", self._modules[name].read_bytes()) for name in loaded)
            stream.write(_archive((path, content, 0o644) for path, content in found))
        drives: list[str] = ["-device", "virtio-scsi-pci"] if disks else []
        for number, disk in enumerate(disks):
            drives += ["-drive", f"file={disk},format=raw,if=none,id=disk{number}"]
            drives += ["-device", f"scsi-hd,drive=disk{number}"]
        if nvme:
            drives += ["-drive", f"file={nvme},format=raw,if=none,id=nvme"]
            drives += ["-device", "nvme,drive=nvme,serial=vol0123456789abcdef0"]
        done = subprocess.run(
            [
                *(QEMU, "-accel", "tcg", "-cpu", "max", "-m", "768"),
                *("-display", "none", "-nic", "none"),
                *("-no-reboot", "-kernel", str(self._kernel), "-initrd", str(archive)),
                *("-append", "console=ttyS0 panic=-1 loglevel=4 mitigations=off"),
                *("-serial", "stdio", "-serial", f"file:{output}", *drives),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60 * _MINUTES,
        )
        said, mark, code = output.read_text(errors="replace").rpartition("\nexit code: ")
        if not mark:
            raise AssertionError(f"the machine ended early: {done.stderr}{done.stdout}")
        return Ran(code=int(code), output=said.replace("\r", ""))

    def _base(self, *programs: str) -> Path:
        """Return an archive of the programs, Python's library and the node programs."""
        wanted = (*_PROGRAMS, *programs)
        archive = self._folder / f"base-{'-'.join(programs)}"
        if not archive.exists():
            entries: dict[str, Path | str | None] = {
                **{f"/{name}": f"usr/{name}" for name in ("bin", "lib", "lib64", "sbin")},
                **{f"/{name}": None for name in ("dev", "proc", "run", "sys", "tmp", "etc")},
            }
            for path, source in (*self._programs(wanted), *self._library()):
                entries[path] = source
            archive.write_bytes(_archive(_contents(entries)))
        return archive

    def _programs(self, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
        found = [self._find(name) for name in names]
        libraries: set[Path] = set()
        for name, program in zip(names, found, strict=True):
            yield f"/usr/{program.parent.name}/{name}", program
            libraries |= self._libraries(program)
        for library in libraries:
            yield self._place(library), library

    def _find(self, name: str) -> Path:
        folders = [self._root / each for each in ("usr/sbin", "sbin", "usr/bin", "bin")]
        places = (*map(str, folders), "/usr/sbin", "/usr/bin", "/sbin", "/bin")
        found = shutil.which(name, path=os.pathsep.join(places))
        if not found:
            raise NoKernel(f"there is no {name} here, and none in {self._root}")
        return Path(found)

    def _libraries(self, program: Path) -> set[Path]:
        folders = [self._root / f"{each}lib/x86_64-linux-gnu" for each in ("usr/", "")]
        done = subprocess.run(
            ["ldd", str(program)],
            capture_output=True,
            text=True,
            env={"LD_LIBRARY_PATH": os.pathsep.join(map(str, folders))},
        )
        if "not found" in done.stdout:
            raise NoKernel(f"{program} lacks a library: {done.stdout}")
        return {Path(path) for path in _LIBRARIES.findall(done.stdout)}

    def _place(self, library: Path) -> str:
        own = library.is_relative_to(self._root)
        path = library.relative_to(self._root) if own else library.relative_to("/")
        return f"/usr/{path}" if path.parts[0] != "usr" else f"/{path}"

    def _library(self) -> Iterator[tuple[str, Path]]:
        """Yield Python's library with its extension modules' libraries, and the node programs."""
        asked = "import sysconfig; print(sysconfig.get_path('stdlib'))"
        python = str(self._find("python3"))
        done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True)
        library = Path(done.stdout.strip())
        for file in library.rglob("*"):
            if file.suffix in _OF_PYTHON and not set(file.parts) & set(_NOT_IN_PYTHON):
                yield str(file), file
        for extension in library.glob("lib-dynload/*.so"):
            for needed in self._libraries(extension):
                yield self._place(needed), needed
        for file in (FILES / "opt").rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"/{file.relative_to(FILES)}", file

    @cached_property
    def _modules(self) -> dict[str, Path]:
        """The files of all modules that the machine can load, by name."""
        files = self._root.rglob("lib/modules/*/kernel/**/*.ko")
        return {file.stem.replace("-", "_"): file for file in files}

    def _loaded(self, names: Iterable[str]) -> list[str]:
        """Return modules in the order in which they can be loaded, without what is built in."""
        order: list[str] = []

        def add(name: str) -> None:
            if name in order or name not in self._modules:
                return
            # What depmod(8) reads: the section .modinfo of the module.
            found = re.search(rb"\0depends=([^\0]*)\0", self._modules[name].read_bytes())
            for needed in found[1].decode().split(",") if found else ():
                add(needed.replace("-", "_"))
            order.append(name)

        for name in names:
            add(name)
        return order


def _contents(entries: dict[str, Path | str | None]) -> Iterator[tuple[str, bytes, int]]:
    for path, source in entries.items():
        if source is None:
            yield path, b"", stat.S_IFDIR | 0o755
        elif isinstance(source, str):
            yield path, source.encode(), stat.S_IFLNK | 0o777
        else:
            yield path, source.read_bytes(), 0o755


def _archive(entries: Iterable[tuple[str, bytes, int]]) -> bytes:
    """Return an archive in the form of the kernel's buffer-format.rst, "newc"."""
    made: set[str] = set()
    parts: list[bytes] = []

    def add(path: str, content: bytes, mode: int) -> None:
        name = path.lstrip("/").encode() + b"\0"
        mode = mode if stat.S_IFMT(mode) else stat.S_IFREG | mode
        fields = (len(parts) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        parts.append(_padded(header + name) + _padded(content))

    for path, content, mode in entries:
        for folder in reversed(Path(path).parents[:-1]):
            if str(folder) not in made:
                made.add(str(folder))
                add(str(folder), b"", stat.S_IFDIR | 0o755)
        made.add(path)
        add(path, content, mode)
    add("TRAILER!!!", b"", stat.S_IFREG)
    return b"".join(parts)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)


_INIT = """#!/usr/bin/python3 -S
import ctypes, fcntl, os, socket, struct, subprocess

libc = ctypes.CDLL(None, use_errno=True)
for kind, place in (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/run")):
    libc.mount(kind.encode(), place.encode(), kind.encode(), 0, None)
output = os.open("/dev/ttyS1", os.O_WRONLY)
for name in {modules!r}:
    with open(f"/modules/{{name}}.ko", "rb") as module:
        # finit_module(2) on x86-64.
        if libc.syscall(313, module.fileno(), b"", 0):
            print(f"{{name}}: {{os.strerror(ctypes.get_errno())}}", flush=True)
# The loopback interface is up and running: netdevice(7), SIOCSIFFLAGS.
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
environment = {{"PATH": "/usr/sbin:/usr/bin", "LC_ALL": "C.UTF-8", "HOME": "/"}}
code = subprocess.call(["sh", "/script"], stdout=output, stderr=output, env=environment)
os.write(output, f"\\nexit code: {{code}}".encode())
# reboot(2): RB_POWER_OFF.
libc.sync()
libc.reboot(0x4321FEDC)
"""
