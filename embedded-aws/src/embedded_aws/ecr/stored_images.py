"""Images whose layers are here: what was pushed with more than a manifest.

OCI image specification: an index names an image for each platform; an image has a configuration and
layers, the lowest first.
"""

import hashlib
import http.client
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from urllib.request import urlopen

from embedded_aws.ecr.layer_store import layer_store

_CHUNK_BYTES = 1 << 20
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class NotReadable(Exception):
    """A part of an image cannot be read; the message says why."""


class Part(Protocol):
    """A layer or a configuration."""

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes, after `sha256:`."""

    @property
    def media_type(self) -> str:
        """What the bytes are."""

    def pieces(self) -> Iterator[bytes]:
        """Yield its bytes.

        Raises:
            NotReadable: they are not to be had.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPart:
    """A part that the registry has.

    Attributes:
        repository: name of its repository.
        digest: SHA-256 of its bytes, after `sha256:`.
        media_type: what the bytes are.
    """

    repository: str
    digest: str
    media_type: str

    def pieces(self) -> Iterator[bytes]:
        """Yield its bytes, which are what the digest says.

        Raises:
            NotReadable: the registry does not have it, or has something else.
        """
        store, seen = layer_store(), hashlib.sha256()
        registry = store.upstream if store else None
        try:
            with urlopen(f"http://{registry}/v2/{self.repository}/blobs/{self.digest}") as answer:
                for piece in iter(partial(answer.read, _CHUNK_BYTES), b""):
                    seen.update(piece)
                    yield piece
        except (OSError, http.client.HTTPException) as error:
            raise NotReadable(f"{self.digest} from the registry {registry}: {error}") from error
        if f"sha256:{seen.hexdigest()}" != self.digest:
            raise NotReadable(f"failed to register layer: {self.digest} has other bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An image for this machine.

    Attributes:
        digest: of its manifest, or of the index that names it.
        config: its configuration.
        layers: the lowest first.
    """

    digest: str
    config: Part
    layers: Sequence[Part]


def stored_image(repository: Any, image: Any) -> StoredImage | None:
    """Return moto's image with its parts; None for one of which ECR has a manifest only.

    Args:
        repository: moto's.
        image: of it.

    Raises:
        NotReadable: an index has no image for this machine.
    """
    manifest = json.loads(image.image_manifest)
    if entries := manifest.get("manifests"):
        digest = _of_this_machine(entries)
        for other in repository.images:
            if other.image_digest == digest:
                manifest = json.loads(other.image_manifest)
    if "config" not in manifest:
        return None
    config, *layers = (
        StoredPart(
            repository=repository.name,
            digest=part.get("digest", ""),
            media_type=part.get("mediaType", ""),
        )
        for part in (manifest["config"], *manifest.get("layers", ()))
    )
    return StoredImage(digest=image.image_digest, config=config, layers=layers)


def _of_this_machine(entries: Sequence[Any]) -> str:
    wanted = {"os": "linux", "architecture": _ARCHITECTURES.get(platform.machine())}
    for entry in entries:
        if wanted.items() <= entry.get("platform", {}).items():
            return str(entry["digest"])
    raise NotReadable(
        f"no matching manifest for linux/{wanted['architecture']} in the manifest list entries"
    )
