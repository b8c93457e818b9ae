"""Requests as no SDK makes them."""

from collections.abc import Mapping
from email.message import Message
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.settings import access_key

KEY = access_key("123456789012")


def ask(
    aws: EmbeddedAws,
    method: str,
    path: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
) -> tuple[int, str, Message]:
    """Return status, text and headers of the answer."""
    request = Request(aws.endpoint + path, body or None, dict(headers or {}), method=method)
    try:
        with urlopen(request) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except HTTPError as error:
        return error.code, error.read().decode(), error.headers


def signed(aws: EmbeddedAws, method: str, path: str, body: bytes, service: str) -> dict[str, str]:
    """Return the headers of a request that the owner has signed, as botocore signs it."""
    request = AWSRequest(method, aws.endpoint + path, data=body)
    credentials = Credentials(KEY, aws.settings.secret_key)
    SigV4Auth(credentials, service, "us-west-2").add_auth(request)
    return dict(request.headers)
