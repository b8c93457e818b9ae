"""Signing requests as AWS's SDKs do, with Signature Version 4.

IAM user guide, "Create a signed AWS API request".
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import reduce
from urllib.parse import urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
TIME = "%Y%m%dT%H%M%SZ"


def signed_headers(
    method: str, url: str, body: bytes, *, key: str, secret: str, region: str, service: str
) -> dict[str, str]:
    """Return the headers with which a request is signed in version 4.

    Args:
        method: of the request.
        url: its URL, without a query.
        body: its body.
        key: id of an access key.
        secret: its secret.
        region: for which it is signed.
        service: for which it is signed.
    """
    at, time = urlsplit(url), datetime.now(UTC).strftime(TIME)
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    headers = {"host": at.netloc, "x-amz-date": time}
    canonical = canonical_request(method, at.path, (), headers, sha256(body))
    return {
        "X-Amz-Date": time,
        "Authorization": f"{ALGORITHM} Credential={key}/{scope}, "
        f"SignedHeaders={';'.join(headers)}, Signature={signature(canonical, time, scope, secret)}",
    }


def canonical_request(
    method: str, path: str, pairs: Iterable[str], headers: Mapping[str, str], body_hash: str
) -> str:
    """Return the canonical request of version 4.

    Args:
        method: of the request.
        path: as it is signed.
        pairs: names and values of its query, as they were sent.
        headers: those that are signed, in their order.
        body_hash: what stands for the body.
    """
    query = sorted(tuple(pair.partition("=")[::2]) for pair in pairs)
    lines = [f"{name}:{' '.join(value.split())}" for name, value in headers.items()]
    return "\n".join(
        [
            method,
            path or "/",
            "&".join(f"{name}={value}" for name, value in query),
            *lines,
            "",
            ";".join(headers),
            body_hash,
        ]
    )


def signature(canonical: str, time: str, scope: str, secret: str) -> str:
    """Return the signature of a canonical request."""
    # WSGI gives headers as Latin-1.
    text = "\n".join([ALGORITHM, time, scope, sha256(canonical.encode("latin-1", "replace"))])
    key = reduce(_mac, scope.split("/"), f"AWS4{secret}".encode())
    return _mac(key, text).hex()


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


def sha256(data: bytes) -> str:
    """Return the digest of data, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
