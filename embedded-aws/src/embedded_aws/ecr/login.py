"""Logging in to ECR's registry: the token from the API, and the account and region in it.

[S] ECR user guide, registry authentication: HTTP basic authentication, the user is `AWS`. The
password is opaque there; here it contains account and region, which the registry's paths do not.
"""

import base64
import binascii
import re

_LOGIN = re.compile(r"AWS:(\d{12})\.([a-z]{2}(?:-[a-z]+)+-\d)")


def authorization(account: str, region: str) -> str:
    """Return ECR's authorization token: user and password, Base64."""
    return base64.b64encode(f"AWS:{account}.{region}".encode()).decode()


def place_of(header: str) -> tuple[str, str] | None:
    """Return account and region that an `Authorization` header is for, or None."""
    kind, _, token = header.partition(" ")
    try:
        login = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    found = _LOGIN.fullmatch(login) if kind == "Basic" else None
    return (found[1], found[2]) if found else None
