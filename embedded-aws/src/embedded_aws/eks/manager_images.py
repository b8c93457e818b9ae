"""The images of JobSet's and Kueue's managers, from the programs that are built here.

Their Dockerfiles: the program is /manager, on a base without a distribution, by a user of its own.
Other tags than those of what is built are not there.
"""

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import yaml

from embedded_aws.ecr.stored_images import StoredImage
from embedded_aws.hosts.found_images import NotPulled, finds_images
from embedded_aws.kubernetes.cache import built
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES

_REPOSITORIES = {f"registry.k8s.io/{name}/{name}": name for name in ("jobset", "kueue")}
_USER = "65532:65532"
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _MadePart:
    """A part that is made when it is read.

    Attributes:
        digest: SHA-256 of what it is made of, after `sha256:`.
        media_type: what its bytes are.
        make: yields them.
    """

    digest: str
    media_type: str
    make: Callable[[], Iterator[bytes]]

    def pieces(self) -> Iterator[bytes]:
        """Yield its bytes."""
        return self.make()


@finds_images
def _find(image: str) -> StoredImage | None:
    repository, _, tag = image.partition(":")
    folder = built(DEFAULT_KUBERNETES)
    if repository not in _REPOSITORIES or not folder.is_dir():
        return None
    name = _REPOSITORIES[repository]
    description = yaml.safe_load((folder / f"charts/{name}/Chart.yaml").read_text("utf-8"))
    if tag != f"v{description['version']}":
        raise NotPulled(f"{image}: not found")
    return _made(folder / "bin" / name)


@cache
def _made(program: Path) -> StoredImage:
    config = json.dumps({"config": {"Entrypoint": ["/manager"], "User": _USER}}).encode()
    with program.open("rb") as file:
        digest = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    layer = _MadePart(
        digest=digest,
        media_type="application/vnd.oci.image.layer.v1.tar",
        make=partial(_layer, program),
    )
    settings = _MadePart(
        digest=f"sha256:{hashlib.sha256(config).hexdigest()}",
        media_type="application/vnd.oci.image.config.v1+json",
        make=lambda: iter([config]),
    )
    return StoredImage(digest=digest, config=settings, layers=[layer])


def _layer(program: Path) -> Iterator[bytes]:
    """Yield an archive with the program, the folders that a base has, and its user."""
    yield from _folder("tmp", 0o1777)
    yield from _folder("etc", 0o755)
    for name, text in _BASE_FILES.items():
        yield from _file(name, 0o644, len(text), iter([text]))
    with program.open("rb") as file:
        pieces = iter(partial(file.read, _CHUNK_BYTES), b"")
        yield from _file("manager", 0o755, program.stat().st_size, pieces)
    yield bytes(2 * tarfile.BLOCKSIZE)


_BASE_FILES: Mapping[str, bytes] = {
    "etc/passwd": b"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/\n",
    "etc/group": b"root:x:0:\nnonroot:x:65532:\n",
}


def _folder(name: str, mode: int) -> Iterator[bytes]:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    yield entry.tobuf()


def _file(name: str, mode: int, size: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = mode, size
    yield entry.tobuf()
    yield from pieces
    yield bytes(-size % tarfile.BLOCKSIZE)
