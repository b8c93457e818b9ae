"""The files of container images: each image is unpacked once.

They are in the folder of the embedded AWS, and go away with it.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from embedded_aws.ecr.stored_images import NotReadable, Part, StoredImage
from embedded_aws.hosts import unpack
from embedded_aws.hosts.network import namespaces_unavailable
from embedded_aws.hosts.user_namespace import making
from embedded_aws.trees import remove_tree

_KINDS = {"tar": "r|", "tar+gzip": "r|gz", "tar.gzip": "r|gz", "tar+zstd": "r|"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """An image whose files are on this machine.

    Attributes:
        root: folder with its files, which nothing may change.
        config: Docker's settings of a container, for instance `Entrypoint`.
    """

    root: Path
    config: dict[str, Any]


class ImageFiles:
    """The files of the images of one embedded AWS.

    Args:
        folder: for them; made when there are some.
        lock: open file, locked until nothing writes there any more.
        apart: hosts have networks of their own.

    Attributes:
        apart: as given.
    """

    def __init__(self, folder: Path, lock: int, *, apart: bool) -> None:
        self._folder, self._lock, self.apart = folder, lock, apart
        self._guards: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._unpacked: dict[str, Unpacked] = {}

    @property
    def unavailable(self) -> str | None:
        """Why no command can run in them, or None."""
        return containers_unavailable(apart=self.apart)

    def unpacked(self, image: StoredImage) -> Unpacked:
        """Return an image's files, which are unpacked now if they were not.

        Raises:
            NotReadable: they cannot be.
        """
        with self._guards[image.digest]:
            if image.digest not in self._unpacked:
                self._unpacked[image.digest] = self._unpack(image)
            return self._unpacked[image.digest]

    def place(self, image: Unpacked, folder: Path) -> str | None:
        """Make the folders of a container; return the one of the image's files over which it lies.

        Args:
            image: its image.
            folder: its own.

        Returns:
            None where this machine has no overlays: then it has a copy of the files.

        Raises:
            NotReadable: there is no room for a copy.
        """
        root = folder / "root"
        if self._has_overlays:
            for made in (root, folder / "changes", folder / "work"):
                made.mkdir()
            return str(image.root)
        copy = ["cp", "-a", "--reflink=auto", str(image.root), str(root)]
        copied = subprocess.run(copy, stderr=subprocess.PIPE, text=True)
        if copied.returncode:
            raise NotReadable(copied.stderr.strip())
        return None

    def _unpack(self, image: StoredImage) -> Unpacked:
        config = json.loads(b"".join(image.config.pieces()))
        self._folder.mkdir(exist_ok=True)
        root = Path(mkdtemp(dir=self._folder))
        root.chmod(0o755)
        try:
            for layer in image.layers:
                _unpack_layer(layer, root, self._lock)
        except NotReadable:
            remove_tree(root)
            raise
        return Unpacked(root=root, config=config.get("config") or {})

    @cached_property
    def _has_overlays(self) -> bool:
        with TemporaryDirectory(dir=self._folder) as folder:
            names = ("lower", "upper", "work", "root")
            for name in names:
                Path(folder, name).mkdir()
            lower, upper, work, root = (f"{folder}/{name}" for name in names)
            layers = f"lowerdir={lower},upperdir={upper},workdir={work}"
            mount = ["mount", "-t", "overlay", "overlay", "-o", layers, root]
            return not subprocess.run([*_apart(), *mount], capture_output=True).returncode


def _apart() -> tuple[str, ...]:
    return ("unshare", *making(), "--mount", "--pid", "--fork", "--kill-child")


def _unpack_layer(layer: Part, root: Path, lock: int) -> None:
    kind = layer.media_type.partition(".layer.v1.")[2] or layer.media_type.rpartition("diff.")[2]
    if kind not in _KINDS:
        raise NotReadable(f"the embedded AWS does not unpack layers of type {layer.media_type}")
    command = [*_apart(), sys.executable, "-I", "-S", unpack.__file__, str(root), _KINDS[kind]]
    if kind == "tar+zstd":
        if not shutil.which("zstd"):
            raise NotReadable(f"{layer.digest} needs the program zstd on this machine")
        command = ["sh", "-c", 'zstd --decompress --stdout | exec "$@"', "sh", *command]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, pass_fds=[lock]) as process:
        assert process.stdin and process.stderr
        # A process that has ended takes no more, and says why.
        try:
            with suppress(BrokenPipeError):
                for piece in layer.pieces():
                    process.stdin.write(piece)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
        said = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise NotReadable(f"failed to register layer {layer.digest}: {said}")


@cache
def containers_unavailable(*, apart: bool = True) -> str | None:
    """Return why commands cannot run in containers on this machine, or None.

    Args:
        apart: hosts have networks of their own; those of an ordinary user must.
    """
    if sys.platform != "linux":
        return "containers need Linux"
    if os.geteuid():
        needed = "containers need root, or hosts with networks of their own"
        return namespaces_unavailable() if apart else needed
    if missing := [name for name in ("mount", "unshare") if not shutil.which(name)]:
        return f"containers need {', '.join(missing)}"
    mount = ["mount", "-t", "tmpfs", "tmpfs", "/tmp"]
    tried = subprocess.run([*_apart(), *mount], capture_output=True, text=True)
    return f"this machine has no containers: {tried.stderr.strip()}" if tried.returncode else None
