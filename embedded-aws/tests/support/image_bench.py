"""Container images that are made of this machine's programs, and pushed to the embedded ECR."""

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from embedded_aws.embedded import EmbeddedAws

_OCI = "application/vnd.oci.image"


class Layer:
    """A layer."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._bytes, mode="w")  # noqa: SIM115

    def add(self, path: str, text: str = "", **fields: Any) -> "Layer":
        """Add a file, or what the fields of its entry say."""
        entry = tarfile.TarInfo(path)
        content = text.encode()
        entry.size, entry.mode = len(content), 0o644
        for name, value in fields.items():
            setattr(entry, name, value)
        self._tar.addfile(entry, io.BytesIO(content))
        return self

    def add_program(self, path: str, source: str) -> "Layer":
        """Add a program of this machine with its libraries."""
        program = shutil.which(source)
        assert program
        linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+)", linked):
            self._tar.add(Path(library).resolve(), library)
        self._tar.add(Path(program).resolve(), path)
        return self

    def packed(self) -> bytes:
        """Return it as it is pushed."""
        self._tar.close()
        return gzip.compress(self._bytes.getvalue(), 1)


def push(
    aws: EmbeddedAws, repository: str, layers: Sequence[Layer], config: Mapping[str, Any]
) -> tuple[str, str]:
    """Push an image as the tag 1 of a new repository; return its URI and its digest."""
    ecr = aws.client("ecr")
    uri = ecr.create_repository(repositoryName=repository)["repository"]["repositoryUri"]
    (data,) = ecr.get_authorization_token()["authorizationData"]
    login = {"Authorization": f"Basic {data['authorizationToken']}"}
    base = f"http://{uri.partition('/')[0]}"

    def send(method: str, url: str, body: bytes, kind: str = "application/octet-stream") -> Any:
        request = Request(url, body, {**login, "Content-Type": kind}, method=method)
        with urlopen(request) as answer:
            return answer.headers

    def upload(body: bytes, kind: str) -> dict[str, Any]:
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        begun = send("POST", f"{base}/v2/{repository}/blobs/uploads/", b"")["Location"]
        place = urlsplit(begun)
        send("PUT", f"{base}{place.path}?{place.query}&digest={digest}", body)
        return {"mediaType": kind, "digest": digest, "size": len(body)}

    whole = {"architecture": "amd64", "os": "linux", "config": config}
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": upload(json.dumps(whole).encode(), f"{_OCI}.config.v1+json"),
        "layers": [upload(layer.packed(), f"{_OCI}.layer.v1.tar+gzip") for layer in layers],
    }
    body = json.dumps(manifest).encode()
    send("PUT", f"{base}/v2/{repository}/manifests/1", body, str(manifest["mediaType"]))
    return f"{uri}:1", f"sha256:{hashlib.sha256(body).hexdigest()}"
