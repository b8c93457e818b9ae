"""Whom the gateway lets in: programs of this machine that have a secret of the embedded AWS.

A caller can have code run as the user of the embedded AWS, for instance as a Lambda function. So no
web page gets an answer, and each call is signed with the secret of its access key: that of the
server, or one that IAM or STS has issued, the latter with its session token. "Common errors" in the
API references of IAM, Systems Manager, AWS Batch, EC2 and S3: the codes. IAM user guide,
"Troubleshoot AWS Signature Version 4", and EC2's and S3's lists of error codes: their words.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hmac import compare_digest
from typing import NamedTuple

from moto.iam.models import AccessKey, iam_backends
from werkzeug import Request

from embedded_aws.iam.session_tokens import session_token
from embedded_aws.refused_call import RefusedCall
from embedded_aws.request_bodies import read_body
from embedded_aws.settings import ServerSettings, account_of
from embedded_aws.signatures import signature_of

# Names of `localhost` mean this machine in every browser (RFC 6761); no other name does.
_LOOPBACK = re.compile(r"((?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)?", re.I)
_HINT = "this embedded AWS takes the credentials that its command `env` prints, and those it issues"
_TOKEN_HINT = "temporary credentials go with their session token, others with none"


class _Codes(NamedTuple):
    """Error codes for what is not signed, an unknown key and a wrong signature; their status."""

    unsigned: str
    unknown: str
    wrong: str
    status: int


_QUERY = _Codes("MissingAuthenticationToken", "InvalidClientTokenId", "SignatureDoesNotMatch", 403)
_JSON = _Codes(
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
    "InvalidSignatureException",
    400,
)
_REST_JSON = _JSON._replace(status=403)
# Beside the services whose calls are forms.
IN_XML = ("cloudfront", "route53")
_OWN = {
    "ec2": _Codes("AuthFailure", "AuthFailure", "AuthFailure", 401),
    "s3": _Codes("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", 403),
}


class _Credentials(NamedTuple):
    """What belongs to an access key; `token` is empty unless it is temporary."""

    account: str
    secret: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who made a call, as its signature proves.

    Attributes:
        key: id of the access key.
        account: to which the key belongs.
        region: for which the call is signed.
        service: for which the call is signed.
    """

    key: str
    account: str
    region: str
    service: str


def refusal_of_page(request: Request) -> str | None:
    """Return why a request that a web page makes, or may make, is not answered; None for others.

    Browsers send `Origin` or `Sec-Fetch-Site`, and as `Host` the name that the page is from, even
    when that has come to mean this machine (DNS rebinding).
    """
    host = request.headers.get("Host", "")
    if not _LOOPBACK.fullmatch(host):
        return f"the embedded AWS answers at http://localhost and 127.0.0.1, not at {host!r}"
    # What a person types or opens from a terminal has `none`.
    if "Origin" in request.headers or request.headers.get("Sec-Fetch-Site", "none") != "none":
        return "the embedded AWS answers programs, not web pages"
    return None


def admit(request: Request, settings: ServerSettings) -> Caller:
    """Return who makes a call, whose body remains readable.

    Raises:
        RefusedCall: nobody who belongs to this embedded AWS.
    """
    signature = signature_of(request)
    if signature is None:
        # moto takes what it does not know for S3.
        service = "" if _in_form(request) or _in_json(request) else "s3"
        codes = _codes(request, service)
        message = f"Request is missing Authentication Token: {_HINT}"
        raise RefusedCall(service, codes.unsigned, message, codes.status)
    service, codes = signature.service, _codes(request, signature.service)
    if signature.expires and service not in ("s3", "sts"):
        message = "The embedded AWS takes presigned URLs of S3 and STS only; sign with a header"
        raise RefusedCall(service, codes.unsigned, message, codes.status)
    if signature.expires and signature.expires < datetime.now(UTC):
        raise RefusedCall(service, "AccessDenied", "Request has expired")
    credentials = _credentials(signature.key, settings)
    if credentials is None:
        message = f"The security token included in the request is invalid: {_HINT}"
        raise RefusedCall(service, codes.unknown, message, codes.status)
    if not compare_digest(signature.token.encode(), credentials.token.encode()):
        message = f"The security token included in the request is invalid: {_TOKEN_HINT}"
        if service == "s3" and signature.token:
            raise RefusedCall(service, "InvalidToken", message, 400)
        raise RefusedCall(service, codes.unknown, message, codes.status)
    # Documented: its answer to a presigned URL that somebody adds to: aws-sdk-js-v3 3906, soto 374.
    if service == "s3" and (left_out := signature.left_out(request)):
        message = "There were headers present in the request which were not signed"
        raise RefusedCall(service, "AccessDenied", f"{message}: {', '.join(left_out)}")
    if not signature.fits(request, partial(read_body, request, service), credentials.secret):
        message = f"The request signature does not match the secret of its access key: {_HINT}"
        raise RefusedCall(service, codes.wrong, message, codes.status)
    read_body(request, service)
    return Caller(
        key=signature.key,
        account=credentials.account,
        region=signature.region or settings.regions[0],
        service=service,
    )


def _credentials(key: str, settings: ServerSettings) -> _Credentials | None:
    """Return what belongs to an access key; None for one that nobody has issued."""
    if account := account_of(key):
        return _Credentials(account, settings.secret_key, "")
    for account, partitions in list(iam_backends.items()):
        for iam in list(partitions.values()):
            issued: AccessKey | None = iam.access_keys.get(key)
            if issued and issued.status == "Active":
                token = session_token(account, issued)
                return _Credentials(account, issued.secret_access_key, token)
    return None


def _codes(request: Request, service: str) -> _Codes:
    if service in _OWN:
        return _OWN[service]
    if _in_form(request) or service in IN_XML:
        return _QUERY
    return _JSON if "X-Amz-Target" in request.headers else _REST_JSON


def _in_form(request: Request) -> bool:
    return request.mimetype == "application/x-www-form-urlencoded"


def _in_json(request: Request) -> bool:
    return "json" in request.mimetype or "X-Amz-Target" in request.headers
