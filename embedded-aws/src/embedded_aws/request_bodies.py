"""The bodies of requests: how long they may be, and what no service could read.

S3 API reference, PutObject, and "List of error codes". Smithy, "AWS JSON protocols" and "AWS
restJson1 protocol": a body that is no JSON object is a SerializationException, with HTTP 400.
Lambda API reference: InvalidRequestContentException. From memory: the limit of all other services
is that of Lambda's CreateFunction, as its error names it; no other is known to be higher.
"""

import json
import zlib
from io import BytesIO

from botocore.exceptions import UnknownServiceError
from moto.core.request import Request as MotoRequest
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model
from werkzeug import Request
from werkzeug.exceptions import ClientDisconnected, NotFound, RequestEntityTooLarge

from embedded_aws.faults import SIGNED_AS
from embedded_aws.refused_call import RefusedCall

_MOST_BYTES_OF_S3, _MOST_BYTES = 5 << 30, 70_167_211
_GZIP = 31
_NO_JSON = {"lambda": "InvalidRequestContentException"}


def read_body(request: Request, service: str) -> bytes:
    """Return the body of a request, which remains readable.

    Raises:
        RefusedCall: it is too long, or breaks off.
    """
    request.max_content_length = _most(service)
    try:
        body = request.get_data()
    except RequestEntityTooLarge as error:
        raise _too_long(service) from error
    except ClientDisconnected as error:
        raise RefusedCall(service, "IncompleteBody", "The request body breaks off", 400) from error
    request.environ["wsgi.input"] = BytesIO(body)
    return body


def inflated(request: Request, service: str) -> Request:
    """Return the request with a body that is not compressed; objects of S3 may be.

    Raises:
        RefusedCall: it would be too long, or it is not compressed in the way that it says.
    """
    if service == "s3" or request.content_encoding != "gzip":
        return request
    inflating = zlib.decompressobj(_GZIP)
    try:
        body = inflating.decompress(request.get_data(), _MOST_BYTES)
    except zlib.error as error:
        raise _not_readable(service, "gzip") from error
    if inflating.unconsumed_tail:
        raise _too_long(service)
    if not inflating.eof:
        raise _not_readable(service, "gzip")
    request.environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
    del request.environ["HTTP_CONTENT_ENCODING"]
    # The other one remembers its body.
    plain = Request(request.environ)
    read_body(plain, service)
    return plain


def check_json(request: Request, service: str) -> None:
    """Check that a body that is called JSON is an object, where the service reads one.

    Raises:
        RefusedCall: it is not.
    """
    body = request.get_data()
    # What a function is called with is JSON, whatever it is called.
    always = service == "lambda"
    named = "json" in request.mimetype or "X-Amz-Target" in request.headers
    if not body or not (always or named):
        return
    try:
        if isinstance(json.loads(body), dict):
            return
    except (ValueError, RecursionError) as error:
        if always:
            raise _not_readable(service, "JSON") from error
    if not _is_payload(request, service):
        raise _not_readable(service, "JSON")


def _is_payload(request: Request, service: str) -> bool:
    """Whether the body is one parameter as it is, for instance the event of a function."""
    try:
        model = get_service_model(SIGNED_AS.get(service, service))
        if model.resolved_protocol != "rest-json":
            return False
        operation, _ = get_service_router(model.service_name).match(MotoRequest(request.environ))
    except (NotFound, UnknownServiceError):
        return False
    shape = operation.input_shape
    payload = shape.serialization.get("payload") if shape else None
    return payload is not None and shape.members[payload].type_name == "blob"


def _not_readable(service: str, form: str) -> RefusedCall:
    code = _NO_JSON.get(service, "SerializationException")
    return RefusedCall(service, code, f"Could not parse request body into {form}", 400)


def _too_long(service: str) -> RefusedCall:
    message = f"Request must be smaller than {_most(service)} bytes"
    if service == "s3":
        return RefusedCall(service, "EntityTooLarge", message, 400)
    return RefusedCall(service, "RequestEntityTooLargeException", message, 413)


def _most(service: str) -> int:
    return _MOST_BYTES_OF_S3 if service == "s3" else _MOST_BYTES
