"""The signatures of requests, by which a caller proves that it has the secret of its access key.

IAM user guide, "Create a signed AWS API request": Signature Version 4, in the header Authorization
or in a presigned URL. S3 user guide, "Authenticating requests (AWS signature version 2)": the
presigned URLs that boto3 makes by default. The time of a signature in a header is not checked, so
that a test may call with another clock than the server's; that of a URL is.
"""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from urllib.parse import quote, urlsplit

from botocore.auth import HmacV1Auth
from botocore.compat import HTTPHeaders
from botocore.credentials import Credentials
from botocore.utils import normalize_url_path
from werkzeug import Request

from embedded_aws.signing import ALGORITHM, TIME, canonical_request, sha256, signature

_HEADER = re.compile(
    rf"{ALGORITHM} Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([^,\s]+)"
)
_CREDENTIAL = re.compile(r"([^/]+)/(\d{8}/([\w.-]+)/([\w.-]+)/aws4_request)")
_DATE, _BODY_HASH = "X-Amz-Date", "X-Amz-Content-SHA256"
_TOKEN = "X-Amz-Security-Token"
_HASH = re.compile("[0-9a-f]{64}")
_STS_LIFETIME = timedelta(minutes=15)
_OF_AWS = re.compile("x-amz-|host$")


class Signature(Protocol):
    """A signature as a request has it, not yet checked."""

    @property
    def key(self) -> str:
        """The id of an access key."""

    @property
    def token(self) -> str:
        """The session token that comes with it, or an empty text."""

    @property
    def region(self) -> str:
        """For which it is signed; empty in version 2."""

    @property
    def service(self) -> str:
        """For which it is signed."""

    @property
    def expires(self) -> datetime | None:
        """When the presigned URL does; None for a signature in a header."""

    def left_out(self, request: Request) -> list[str]:
        """Return the names of `host` and `x-amz-*` headers that the signature is not of."""

    def fits(self, request: Request, body: Callable[[], bytes], secret: str) -> bool:
        """Whether whoever signed the request has the secret.

        Args:
            request: the request.
            body: reads its body, which may be long; only if the signature depends on it, or fits.
            secret: of the access key.
        """


def signature_of(request: Request) -> Signature | None:
    """Return the signature of a request; None if it has none of those that AWS takes."""
    headers, args = request.headers, request.args
    if header := headers.get("Authorization"):
        parts = _HEADER.fullmatch(header)
        return parts and _version_4(
            *parts.groups(), time=headers.get(_DATE, ""), token=headers.get(_TOKEN, "")
        )
    if "X-Amz-Signature" in args:
        names = ("X-Amz-Credential", "X-Amz-SignedHeaders", "X-Amz-Signature")
        return _version_4(
            *(args.get(name, "") for name in names),
            time=args.get(_DATE, ""),
            token=args.get(_TOKEN, ""),
            seconds=args.get("X-Amz-Expires", ""),
        )
    return _version_2(args)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version4:
    """Signature Version 4; `scope` is the rest of its credential."""

    key: str
    token: str
    scope: str
    region: str
    service: str
    headers: tuple[str, ...]
    value: str
    time: str
    expires: datetime | None

    def left_out(self, request: Request) -> list[str]:
        names = {name.lower() for name, _ in request.headers} - {*self.headers}
        # The canonical request has the body's hash in any case.
        return sorted(each for each in names if _OF_AWS.match(each) and each != _BODY_HASH.lower())

    def fits(self, request: Request, body: Callable[[], bytes], secret: str) -> bool:
        stated = request.headers.get(_BODY_HASH)
        unsigned = self.expires and self.service == "s3"
        body_hash = stated or ("UNSIGNED-PAYLOAD" if unsigned else sha256(body()))
        path, _, query = _target(request).partition("?")
        pairs = (pair for pair in query.split("&") if pair)
        canonical = canonical_request(
            request.method,
            path if self.service == "s3" else quote(normalize_url_path(path), safe="/~"),
            (pair for pair in pairs if not pair.startswith("X-Amz-Signature=")),
            {name: request.headers.get(name, "") for name in self.headers},
            body_hash,
        )
        expected = signature(canonical, self.time, self.scope, secret)
        if not hmac.compare_digest(expected.encode(), self.value.encode()):
            return False
        # The others say that a client does not sign the body, or signs it in pieces.
        return not (stated and _HASH.fullmatch(stated)) or stated == sha256(body())


def _version_4(
    credential: str,
    headers: str,
    value: str,
    *,
    time: str,
    token: str,
    seconds: str | None = None,
) -> _Version4 | None:
    parts = _CREDENTIAL.fullmatch(credential)
    try:
        made = datetime.strptime(time, TIME).replace(tzinfo=UTC)
        expires = None if seconds is None else made + timedelta(seconds=int(seconds))
    except (ValueError, OverflowError):
        return None
    if parts is None:
        return None
    key, scope, region, service = parts.groups()
    if expires and service == "sts":
        # aws-iam-authenticator: STS takes its presigned URLs for 15 minutes, whatever they say.
        expires = made + _STS_LIFETIME
    return _Version4(
        key=key,
        token=token,
        scope=scope,
        region=region,
        service=service,
        headers=tuple(headers.split(";")),
        value=value,
        time=time,
        expires=expires,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version2:
    """Signature Version 2 of a presigned URL of S3; `until` is its expiry as the URL has it."""

    key: str
    token: str
    value: str
    until: str
    expires: datetime
    region: str = ""
    service: str = "s3"

    def left_out(self, request: Request) -> list[str]:
        return []

    def fits(self, request: Request, body: Callable[[], bytes], secret: str) -> bool:
        auth, headers = HmacV1Auth(Credentials(self.key, secret)), HTTPHeaders()
        for name, value in request.headers:
            headers[name] = value
        # Signed as a header, and moved into the URL.
        if self.token:
            headers[_TOKEN] = self.token
        own = auth.canonical_custom_headers(headers)
        text = "\n".join(
            [
                request.method,
                request.headers.get("Content-MD5", ""),
                request.headers.get("Content-Type", ""),
                self.until,
                *([own] if own else []),
                auth.canonical_resource(urlsplit(_target(request))),
            ]
        )
        return hmac.compare_digest(auth.sign_string(text).encode(), self.value.encode())


def _version_2(args: Mapping[str, str]) -> _Version2 | None:
    key, value, until = (args.get(name, "") for name in ("AWSAccessKeyId", "Signature", "Expires"))
    try:
        expires = datetime.fromtimestamp(int(until), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    token = args.get(_TOKEN.lower(), "")
    return _Version2(key=key, token=token, value=value, until=until, expires=expires)


def _target(request: Request) -> str:
    """Return path and query as they were sent: the signature is of them."""
    return str(request.environ["REQUEST_URI"])
