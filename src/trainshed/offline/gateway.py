"""The door of the embedded AWS: whose request it is, whether its region is enabled, reset, status.

A WSGI application around moto's. It answers `GET /_trainshed/status` and `POST /_trainshed/reset`
itself (moto's own `/moto-api/reset` too, which would forget what was seeded).
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import date
from threading import Lock
from typing import Any
from xml.sax.saxutils import escape

from trainshed.offline.settings import OfflineSettings, account_of

STATUS_PATH = "/_trainshed/status"
RESET_PATH = "/_trainshed/reset"

# JSON and WSGI enter here.
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
# Signed for us-east-1 (Cost Explorer and Pricing have no other endpoint), wherever the caller is.
# https://docs.aws.amazon.com/general/latest/gr/rande.html#global-endpoints
_GLOBAL_SERVICES = frozenset(
    {"iam", "sts", "route53", "cloudfront", "budgets", "ce", "pricing", "organizations"}
    | {"account", "health", "support", "savingsplans", "globalaccelerator", "shield", "waf"}
)


class Gateway:
    """Lets the requests of the enabled accounts and regions through to moto.

    Args:
        application: moto's WSGI application.
        settings: what is enabled.
        reset: empties the embedded AWS and seeds it again, as of the given day.
        issuer: finds the account that issued a key to a role or a user, or None.
    """

    def __init__(
        self,
        application: Application,
        settings: OfflineSettings,
        *,
        reset: Callable[[date | None], None],
        issuer: Callable[[str], str | None],
    ) -> None:
        self._application = application
        self._settings = settings
        self._reset = reset
        self._issuer = issuer
        self._as_of = settings.as_of
        self._one_reset_at_a_time = Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        path = environ.get("PATH_INFO", "")
        if path == STATUS_PATH:
            return self._status(start_response)
        if path in (RESET_PATH, "/moto-api/reset") and environ["REQUEST_METHOD"] == "POST":
            return self._start_over(environ, start_response)
        account = self._settings.accounts[0]
        if found := _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", "")):
            key, region, service = found.groups()
            account = account_of(key, self._settings.accounts) or self._issuer(key) or account
            if refusal := self._refusal(account, region, service):
                return _refuse(environ, start_response, service, *refusal)
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
        return self._application(environ, start_response)

    def _refusal(self, account: str, region: str, service: str) -> tuple[str, str] | None:
        """Return AWS's error code and our words when the request is for what is not enabled."""
        if account not in self._settings.accounts:
            return "AccessDenied", (
                f"Account {account} is not part of this embedded AWS, which has "
                f"{', '.join(self._settings.accounts)}: start it with --account {account}"
            )
        at_home = region in self._settings.regions
        if at_home or (service in _GLOBAL_SERVICES and region == "us-east-1"):
            return None
        return "OptInRequired", (
            f"Region {region} is not enabled in this embedded AWS, which has "
            f"{', '.join(self._settings.regions)}: start it with --region {region}"
        )

    def _status(self, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        status = {
            "accounts": self._settings.accounts,
            "regions": self._settings.regions,
            "as_of": self._as_of and self._as_of.isoformat(),
        }
        return [json.dumps(status).encode()]

    def _start_over(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        as_of = json.loads(body).get("as_of") if body else None
        with self._one_reset_at_a_time:
            self._as_of = date.fromisoformat(as_of) if as_of else self._settings.as_of
            self._reset(self._as_of)
        return self._status(start_response)


def _refuse(
    environ: Environ, start_response: StartResponse, service: str, code: str, message: str
) -> Iterable[bytes]:
    """Answer 403 in the protocol of the request, so that every SDK reads code and message."""
    form = environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")
    kind = "text/xml"
    error = f"<Code>{code}</Code><Message>{escape(message)}</Message>"
    if service == "ec2":
        body = f"<Response><Errors><Error>{error}</Error></Errors></Response>"
    elif service == "s3":
        body = f"<Error>{error}</Error>"
    elif form or service in ("route53", "cloudfront"):
        body = f"<ErrorResponse><Error>{error}</Error></ErrorResponse>"
    else:
        kind, body = "application/json", json.dumps({"__type": code, "message": message})
    start_response("403 Forbidden", [("Content-Type", kind), ("x-amzn-errortype", code)])
    return [body.encode()]
