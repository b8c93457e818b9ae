"""A mirror of the registries that publish charts, with those of the managers that are built here.

OCI distribution specification 1.1, "Pull": manifests by tag or digest, blobs by digest. Helm
documentation, "Use OCI-based registries": a chart is a manifest with a configuration and one layer.
The charts are the files of the managers' own modules (`kubernetes/prepare.py`). Inferred: how they
are packed; so the digests are not those of the real registries.

The path begins with the name of the registry, as in pull-through caches. Any other name, tag or
digest is not there.
"""

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import yaml
from werkzeug import Request, Response

from embedded_aws.environment import CHART_MIRROR
from embedded_aws.kubernetes.cache import built
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES
from embedded_aws.unsigned import answers_unsigned
from embedded_aws.wsgi import Application

_REPOSITORIES = {
    f"registry.k8s.io/{name}/charts/{name}": f"charts/{name}" for name in ("jobset", "kueue")
}
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.cncf.helm.config.v1+json"
_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    """One chart.

    Attributes:
        manifests: by tag and by digest.
        blobs: by digest.
    """

    manifests: Mapping[str, bytes]
    blobs: Mapping[str, bytes]


@answers_unsigned
def _answer(request: Request, _: Application) -> Application | None:
    prefix = f"/v2{CHART_MIRROR}/"
    if not request.path.startswith(prefix):
        return None
    if request.method not in ("GET", "HEAD"):
        return _error("UNSUPPORTED", 405)
    path = request.path.removeprefix(prefix)
    for kind, media_type in (("manifests", _MANIFEST), ("blobs", "application/octet-stream")):
        repository, found, reference = path.rpartition(f"/{kind}/")
        if not found:
            continue
        folder = built(DEFAULT_KUBERNETES) / _REPOSITORIES.get(repository, "none")
        if not folder.is_dir():
            return _error("NAME_UNKNOWN", 404)
        published = _published(folder)
        contents = published.manifests if kind == "manifests" else published.blobs
        if reference not in contents:
            return _error(f"{kind[:-1].upper()}_UNKNOWN", 404)
        answer = Response(contents[reference], mimetype=media_type)
        answer.headers["Docker-Content-Digest"] = _digest(contents[reference])
        return answer
    return _error("NAME_INVALID", 404)


@cache
def _published(folder: Path) -> _Published:
    description = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    config = json.dumps(description, sort_keys=True, default=str).encode()
    layer = _archive(folder, description["name"])
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, config),
            "layers": [_descriptor(_LAYER, layer)],
        },
        sort_keys=True,
    ).encode()
    return _Published(
        # Helm documentation: a `+` of a version is `_` in its tag. These have none.
        manifests={description["version"]: manifest, _digest(manifest): manifest},
        blobs={_digest(each): each for each in (config, layer)},
    )


def _archive(folder: Path, name: str) -> bytes:
    """Return the files of a chart in one, always the same."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = tarfile.TarInfo(f"{name}/{file.relative_to(folder)}")
            entry.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(entry, content)
    return packed.getvalue()


def _descriptor(media_type: str, content: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def _error(code: str, status: int) -> Response:
    body = {"errors": [{"code": code, "message": code.lower().replace("_", " ")}]}
    return Response(json.dumps(body), status, mimetype="application/json")
