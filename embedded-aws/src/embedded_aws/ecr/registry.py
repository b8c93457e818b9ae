"""ECR's registry API for docker, podman and buildah, in front of a real registry on loopback.

The real registry stores layers and manifests. Repositories, logins, tags and whether they may be
overwritten are ECR's: they are checked here and stored in moto's ECR, whose API then shows what was
pushed.

[S] Docker Registry HTTP API V2; the errors in ECR's words, as its users report them.
"""

import hashlib
import http.client
import json
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Any

from moto.ecr.models import Repository, ecr_backends

from embedded_aws.ecr.login import place_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

_NAME = r"(?P<name>[a-z0-9]+(?:[._/-][a-z0-9]+)*)"
_BLOB = re.compile(rf"/v2/{_NAME}/blobs/.+")
_MANIFEST = re.compile(rf"/v2/{_NAME}/manifests/(?P<reference>[^/]+)")
_TAGS = re.compile(rf"/v2/{_NAME}/tags/list")
_CHUNK = 1 << 16
# Headers that are not passed on.
_NOT_PASSED_ON = frozenset({"authorization", "connection", "transfer-encoding", "content-length"})


class _Refused(Exception):
    """A refusal of the registry API.

    Args:
        status: HTTP status.
        code: error code of the registry API, for instance `NAME_UNKNOWN`.
        message: ECR's words.
    """

    def __init__(self, status: HTTPStatus, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Registry:
    """A WSGI application: the registry API of every account and region.

    Args:
        upstream: `HOST:PORT` of the real registry.
    """

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream

    @staticmethod
    def serves(environ: Environ) -> bool:
        """Whether a request is of the registry API; signed ones with such paths are of AWS APIs."""
        path = environ.get("PATH_INFO", "")
        if environ.get("HTTP_AUTHORIZATION", "").startswith("AWS4-"):
            return False
        return path == "/v2/" or any(form.fullmatch(path) for form in (_BLOB, _MANIFEST, _TAGS))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        try:
            return self._answer(environ, start_response)
        except _Refused as refusal:
            errors = {"errors": [{"code": refusal.code, "message": str(refusal)}]}
            return _json(start_response, refusal.status, errors)
        except OSError as error:
            message = f"the registry at {self._upstream} cannot be reached ({error})"
            errors = {"errors": [{"code": "UNAVAILABLE", "message": message}]}
            return _json(start_response, HTTPStatus.BAD_GATEWAY, errors)

    def _answer(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        header = environ.get("HTTP_AUTHORIZATION", "")
        whose = place_of(header)
        if whose is None:
            reason = "authorization token is not valid" if header else "no basic auth credentials"
            raise _Refused(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED", reason)
        account, region = whose
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == "/v2/":
            return _json(start_response, HTTPStatus.OK, {})
        if found := _TAGS.fullmatch(path):
            repository = _repository(account, region, found["name"])
            tags = sorted(tag for image in repository.images for tag in image.image_tags)
            return _json(start_response, HTTPStatus.OK, {"name": found["name"], "tags": tags})
        if found := _MANIFEST.fullmatch(path):
            repository = _repository(account, region, found["name"])
            if method == "PUT":
                return self._push(environ, start_response, repository, found["reference"])
            if method in ("GET", "HEAD"):
                digest = _digest_of(repository, found["reference"])
                at = f"/v2/{found['name']}/manifests/{digest}"
                return self._pass_on(environ, start_response, at, _body(environ))
            raise _Refused(
                HTTPStatus.METHOD_NOT_ALLOWED, "UNSUPPORTED", "use the BatchDeleteImage API"
            )
        _repository(account, region, path.removeprefix("/v2/").rpartition("/blobs/")[0])
        return self._pass_on(environ, start_response, path, _body(environ))

    def _push(
        self, environ: Environ, start_response: StartResponse, repository: Repository, tag: str
    ) -> Iterable[bytes]:
        """Store a manifest under a tag, or under its digest only."""
        manifest = b"".join(_body(environ))
        digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
        tagged = None if tag.startswith("sha256:") else tag
        if tagged and _keeps(repository, tagged) and _tagged(repository, tagged):
            raise _Refused(
                HTTPStatus.BAD_REQUEST,
                "TAG_INVALID",
                f"The image tag '{tagged}' already exists in the '{repository.name}' repository "
                "and cannot be overwritten because the tag is immutable.",
            )

        def keep(status: str, *rest: Any) -> Any:
            if status.startswith("201"):
                _record(repository, manifest.decode(), digest, environ["CONTENT_TYPE"], tagged)
            return start_response(status, *rest)

        return self._pass_on(environ, keep, environ["PATH_INFO"], [manifest])

    def _pass_on(
        self, environ: Environ, start_response: StartResponse, path: str, body: Iterable[bytes]
    ) -> Iterable[bytes]:
        connection = http.client.HTTPConnection(self._upstream)
        query = environ.get("QUERY_STRING")
        headers = {
            name.removeprefix("HTTP_").replace("_", "-"): value
            for name, value in environ.items()
            if name.startswith("HTTP_") or name == "CONTENT_TYPE"
        }
        kept = {key: value for key, value in headers.items() if key.lower() not in _NOT_PASSED_ON}
        connection.request(
            environ["REQUEST_METHOD"],
            f"{path}?{query}" if query else path,
            body=iter(body),
            headers=kept | {"Transfer-Encoding": "chunked"},
            encode_chunked=True,
        )
        answer = connection.getresponse()
        passed = [
            (name, value)
            for name, value in answer.getheaders()
            if name.lower() not in _NOT_PASSED_ON or name.lower() == "content-length"
        ]
        start_response(f"{answer.status} {answer.reason}", passed)
        return _chunks(answer, connection)


def _repository(account: str, region: str, name: str) -> Repository:
    backend = ecr_backends[account][region]
    found = backend.repositories.get(name)
    if found is None:
        raise _Refused(
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
    raise _Refused(HTTPStatus.NOT_FOUND, "MANIFEST_UNKNOWN", "Requested image not found")


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


def _body(environ: Environ) -> Iterator[bytes]:
    """Read the request's body, which has a length or is chunked."""
    stream = environ["wsgi.input"]
    if environ.get("wsgi.input_terminated"):
        while piece := stream.read(_CHUNK):
            yield piece
        return
    left = int(environ.get("CONTENT_LENGTH") or 0)
    while left and (piece := stream.read(min(left, _CHUNK))):
        left -= len(piece)
        yield piece


def _chunks(
    answer: http.client.HTTPResponse, connection: http.client.HTTPConnection
) -> Iterator[bytes]:
    while piece := answer.read(_CHUNK):
        yield piece
    connection.close()


def _json(start_response: StartResponse, status: HTTPStatus, value: object) -> Iterable[bytes]:
    body = json.dumps(value).encode()
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Docker-Distribution-Api-Version", "registry/2.0"),
    ]
    if status is HTTPStatus.UNAUTHORIZED:
        headers.append(("WWW-Authenticate", 'Basic realm="ecr",service="ecr.amazonaws.com"'))
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]
