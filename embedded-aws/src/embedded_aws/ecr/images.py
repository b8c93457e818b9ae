"""Container images: ECR's API for images that docker, podman or buildah pushed.

ECR API reference: an image's digest is the SHA-256 of its manifest; its size is that of its layers
as they are stored; GetDownloadUrlForLayer answers a URL that needs no credentials.
"""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.ecr.models import Image

from embedded_aws.actions import Call, Refusal, action, correction
from embedded_aws.ecr.layer_store import layer_store
from embedded_aws.ecr.login import authorization

_TOKEN_LIFE = timedelta(hours=12)


@correction
def give_images_digest_and_size() -> None:
    """Give moto's images the digest and size that ECR would show."""
    # mypy refuses replacing methods.
    Image._create_digest = _create_digest  # type: ignore[assignment, method-assign]
    Image.get_image_size_in_bytes = _size  # type: ignore[assignment, method-assign]


def _create_digest(image: Image) -> None:
    image._image_digest = f"sha256:{hashlib.sha256(image.image_manifest.encode()).hexdigest()}"


def _size(image: Image) -> int | None:
    layers = json.loads(image.image_manifest).get("layers")
    return None if layers is None else sum(layer.get("size", 0) for layer in layers)


@action("ecr", "GetAuthorizationToken")
def get_authorization_token(call: Call) -> Any:
    """Return a token for twelve hours; without a registry, refuse."""
    store = layer_store()
    if store is None:
        # With a token, docker would connect to AWS's own ECR.
        raise Refusal(
            "InvalidParameterException",
            "this embedded AWS stores no images: start it with --registry HOST:PORT, a registry "
            "on loopback",
        )
    accounts = call.params.get("registryIds") or [call.account]
    expires = datetime.now(UTC) + _TOKEN_LIFE
    return {
        "authorizationData": [
            {
                "authorizationToken": authorization(
                    account, call.region, expires=expires, secret=store.secret
                ),
                "expiresAt": expires,
                "proxyEndpoint": f"http://{store.host}",
            }
            for account in accounts
        ]
    }


@action("ecr", "CreateRepository")
def create_repository(call: Call) -> Any:
    """Create a repository; with a registry, its URI accepts pushes."""
    answer = call.moto()
    if store := layer_store():
        repository = call.backend("ecr").repositories[call.params["repositoryName"]]
        repository.uri = f"{store.host}/{repository.name}"
    return answer


@action("ecr", "GetDownloadUrlForLayer")
def get_download_url_for_layer(call: Call) -> dict[str, str]:
    """Return the URL where a layer or an image's configuration is read without credentials."""
    name, digest = call.params["repositoryName"], call.params["layerDigest"]
    repository = call.backend("ecr")._get_repository(name, call.params.get("registryId"))
    manifests = [json.loads(image.image_manifest) for image in repository.images]
    known = {
        each["digest"]
        for manifest in manifests
        for each in (*manifest.get("layers", ()), manifest.get("config", {}))
        if "digest" in each
    }
    store = layer_store()
    if digest not in known or not store:
        raise Refusal(
            "LayersNotFoundException",
            f"The layer with digest '{digest}' does not exist in the repository with name "
            f"'{name}' in the registry with id '{repository.registry_id}'",
        )
    return {
        "downloadUrl": f"http://{store.upstream}/v2/{name}/blobs/{digest}",
        "layerDigest": digest,
    }
