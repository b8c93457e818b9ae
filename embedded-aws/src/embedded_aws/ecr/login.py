"""Logging in to ECR's registry: the token from the API, and the account and region in it.

ECR user guide, registry authentication: HTTP basic authentication, the user is `AWS`. The password
is opaque there; here it contains account and region, which the registry's paths do not, and when it
expires, sealed with the secret key of the embedded AWS. ECR API reference, GetAuthorizationToken:
12 hours.
"""

import base64
import binascii
import hmac
import re
from datetime import UTC, datetime

_LOGIN = re.compile(r"AWS:((\d{12})\.([a-z]{2}(?:-[a-z]+)+-\d)\.(\d{10}))\.([0-9a-f]{64})")


def authorization(account: str, region: str, *, expires: datetime, secret: str) -> str:
    """Return ECR's authorization token: user and password, Base64."""
    place = f"{account}.{region}.{int(expires.timestamp())}"
    return base64.b64encode(f"AWS:{place}.{_seal(place, secret)}".encode()).decode()


def place_of(header: str, secret: str) -> tuple[str, str] | None:
    """Return account and region that an `Authorization` header is for, or None."""
    kind, _, token = header.partition(" ")
    try:
        login = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    found = _LOGIN.fullmatch(login) if kind == "Basic" else None
    if found is None or not hmac.compare_digest(_seal(found[1], secret), found[5]):
        return None
    expired = int(found[4]) < datetime.now(UTC).timestamp()
    return None if expired else (found[2], found[3])


def _seal(place: str, secret: str) -> str:
    return hmac.digest(secret.encode(), place.encode(), "sha256").hex()
