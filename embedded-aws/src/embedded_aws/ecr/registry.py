"""ECR's registry API for docker, podman and buildah, in front of a real registry on loopback.

The real registry stores layers and manifests. Repositories, logins, tags and whether they may be
overwritten are ECR's: they are checked here and stored in moto's ECR, whose API then shows what was
pushed.

Docker Registry HTTP API V2; the errors in ECR's words, as its users report them.
"""

import hashlib
import http.client
import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from http import HTTPStatus
from typing import Any

from moto.ecr.models import Repository, ecr_backends
from werkzeug import Request, Response
from werkzeug.exceptions import HTTPException

from embedded_aws.ecr.layer_store import LayerStore
from embedded_aws.ecr.login import place_of
from embedded_aws.wsgi import Environ, StartResponse

_NAME = r"(?P<name>[a-z0-9]+(?:[._/-][a-z0-9]+)*)"
_BLOB = re.compile(rf"/v2/{_NAME}/blobs/.+")
_MANIFEST = re.compile(rf"/v2/{_NAME}/manifests/(?P<reference>[^/]+)")
_TAGS = re.compile(rf"/v2/{_NAME}/tags/list")
_CHUNK = 1 << 16
# Headers that are not passed on.
_NOT_PASSED_ON = frozenset({"authorization", "connection", "transfer-encoding", "content-length"})


class Registry:
    """A WSGI application: the registry API of every account and region.

    Args:
        store: the real registry.
    """

    def __init__(self, store: LayerStore) -> None:
        self._upstream, self._secret = store.upstream, store.secret

    @staticmethod
    def serves(request: Request) -> bool:
        """Whether a request is of the registry API; signed ones with such paths are of AWS APIs."""
        if request.headers.get("Authorization", "").startswith("AWS4-"):
            return False
        forms = (_BLOB, _MANIFEST, _TAGS)
        return request.path == "/v2/" or any(form.fullmatch(request.path) for form in forms)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        try:
            answer: Response | HTTPException = self._answer(Request(environ))
        except HTTPException as refusal:
            answer = refusal
        except OSError as error:
            message = f"the registry at {self._upstream} cannot be reached ({error})"
            answer = _refused(HTTPStatus.BAD_GATEWAY, "UNAVAILABLE", message)
        return answer(environ, start_response)

    def _answer(self, request: Request) -> Response:
        header = request.headers.get("Authorization", "")
        whose = place_of(header, self._secret)
        if whose is None:
            reason = "authorization token is not valid" if header else "no basic auth credentials"
            raise _refused(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED", reason)
        path = request.path
        if path == "/v2/":
            return _json(HTTPStatus.OK, {})
        if found := _TAGS.fullmatch(path):
            repository = _repository(*whose, found["name"])
            tags = sorted(tag for image in repository.images for tag in image.image_tags)
            return _json(HTTPStatus.OK, {"name": found["name"], "tags": tags})
        if found := _MANIFEST.fullmatch(path):
            repository = _repository(*whose, found["name"])
            if request.method == "PUT":
                return self._push(request, repository, found["reference"])
            if request.method in ("GET", "HEAD"):
                digest = _digest_of(repository, found["reference"])
                at = f"/v2/{found['name']}/manifests/{digest}"
                return self._pass_on(request, at, _pieces(request.stream))
            raise _refused(
                HTTPStatus.METHOD_NOT_ALLOWED, "UNSUPPORTED", "use the BatchDeleteImage API"
            )
        _repository(*whose, path.removeprefix("/v2/").rpartition("/blobs/")[0])
        return self._pass_on(request, path, _pieces(request.stream))

    def _push(self, request: Request, repository: Repository, tag: str) -> Response:
        """Store a manifest under a tag, or under its digest only."""
        manifest = b"".join(_pieces(request.stream))
        digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
        tagged = None if tag.startswith("sha256:") else tag
        if tagged and _keeps(repository, tagged) and _tagged(repository, tagged):
            raise _refused(
                HTTPStatus.BAD_REQUEST,
                "TAG_INVALID",
                f"The image tag '{tagged}' already exists in the '{repository.name}' repository "
                "and cannot be overwritten because the tag is immutable.",
            )
        answer = self._pass_on(request, request.path, [manifest])
        if answer.status_code == HTTPStatus.CREATED:
            _record(repository, manifest.decode(), digest, request.headers["Content-Type"], tagged)
        return answer

    def _pass_on(self, request: Request, path: str, body: Iterable[bytes]) -> Response:
        connection = http.client.HTTPConnection(self._upstream)
        query = request.query_string.decode()
        passed = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _NOT_PASSED_ON
        }
        connection.request(
            request.method,
            f"{path}?{query}" if query else path,
            body=iter(body),
            headers=passed | {"Transfer-Encoding": "chunked"},
            encode_chunked=True,
        )
        answer = connection.getresponse()
        headers = [
            (name, value)
            for name, value in answer.getheaders()
            if name.lower() not in _NOT_PASSED_ON or name.lower() == "content-length"
        ]
        response = Response(_pieces(answer), f"{answer.status} {answer.reason}", headers)
        response.call_on_close(connection.close)
        return response


def _repository(account: str, region: str, name: str) -> Repository:
    backend = ecr_backends[account][region]
    found = backend.repositories.get(name)
    if found is None:
        raise _refused(
            HTTPStatus.NOT_FOUND,
            "NAME_UNKNOWN",
            f"The repository with name '{name}' does not exist in the registry with id '{account}'",
        )
    return found


def _keeps(repository: Repository, tag: str) -> bool:
    """Whether an existing tag is immutable; the filters are exceptions."""
    filters = repository.image_tag_mutability_exclusion_filters or ()
    excluded = any(fnmatchcase(tag, each["filter"]) for each in filters)
    return repository.is_tag_immutable() != excluded


def _tagged(repository: Repository, tag: str) -> list[Any]:
    return [image for image in repository.images if tag in image.image_tags]


def _digest_of(repository: Repository, reference: str) -> str:
    for image in repository.images:
        if reference in (image.image_digest, *image.image_tags):
            return image.image_digest
    raise _refused(HTTPStatus.NOT_FOUND, "MANIFEST_UNKNOWN", "Requested image not found")


def _record(
    repository: Repository, manifest: str, digest: str, media_type: str, tag: str | None
) -> None:
    """Make moto's ECR know an image; a tag that another image has moves to it."""
    backend = ecr_backends[repository.account_id][repository.region_name]
    known = any(image.image_digest == digest for image in repository.images)
    already = any(image.image_digest == digest for image in _tagged(repository, tag or ""))
    if not already and not (known and tag is None):
        # moto's signature does not know that an image may have no tag.
        backend.put_image(repository.name, manifest, tag, media_type, digest)  # type: ignore[arg-type]


def _pieces(stream: Any) -> Iterator[bytes]:
    return iter(partial(stream.read, _CHUNK), b"")


def _json(status: HTTPStatus, value: object) -> Response:
    headers = {"Docker-Distribution-Api-Version": "registry/2.0"}
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Basic realm="ecr",service="ecr.amazonaws.com"'
    return Response(json.dumps(value), status, headers, "application/json")


def _refused(status: HTTPStatus, code: str, message: str) -> HTTPException:
    """Return a refusal of the registry API.

    Args:
        status: HTTP status.
        code: error code of the registry API, for instance `NAME_UNKNOWN`.
        message: ECR's words.
    """
    errors = [{"code": code, "message": message}]
    return HTTPException(response=_json(status, {"errors": errors}))
