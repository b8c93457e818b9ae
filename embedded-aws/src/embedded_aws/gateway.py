"""The gateway of the embedded AWS: checks account and region of each request, and has controls.

A WSGI application around moto's. It answers the controls itself, whose paths begin with
`/_embedded-aws/`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from http import HTTPStatus
from io import BytesIO
from socket import socket
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.faults import FAULTS_PATH, Fault, Faults, from_json
from embedded_aws.settings import ServerSettings, account_of, parse_as_of

if TYPE_CHECKING:
    from embedded_aws.ecr.registry import Registry

CONTROLS = "/_embedded-aws/"
RESET_PATH = f"{CONTROLS}reset"

# JSON and WSGI have no types.
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
# Answers this connection from a reset AWS as of a day; never returns.
StartOver = Callable[[socket, date | None], NoReturn]
# The zone of a launch in an account and region, by the parameters as sent.
ZoneOf = Callable[[str, str, Mapping[str, str]], str | None]

_LAUNCHES = ("RunInstances", "CreateFleet")
_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
# Signed for us-east-1 (Cost Explorer and Pricing have no other endpoint), wherever the caller is.
# https://docs.aws.amazon.com/general/latest/gr/rande.html#global-endpoints
_GLOBAL_SERVICES = frozenset(
    {"iam", "sts", "route53", "cloudfront", "budgets", "ce", "pricing", "organizations"}
    | {"account", "health", "support", "savingsplans", "globalaccelerator", "shield", "waf"}
)


class Gateway:
    """Passes requests of the enabled accounts and regions on to moto.

    Args:
        application: moto's WSGI application.
        settings: what is enabled.
        as_of: the day whose instance types exist.
        start_over: called for a reset, with the day from the request or the settings.
        issuer: returns the account that issued an access key, or None.
        registry: answers docker, podman and buildah; None without a container registry.
        faults: the calls to answer with errors.
        zone: returns the zone in which a request would launch, or None.
    """

    def __init__(
        self,
        application: Application,
        settings: ServerSettings,
        *,
        as_of: date | None,
        start_over: StartOver,
        issuer: Callable[[str], str | None],
        registry: "Registry | None",
        faults: Faults,
        zone: ZoneOf,
    ) -> None:
        self._application = application
        self._settings = settings
        self._as_of = as_of
        self._start_over = start_over
        self._issuer = issuer
        self._registry = registry
        self._faults = faults
        self._zone = zone
        self._controls = {
            f"GET {CONTROLS}status": self._status,
            f"POST {FAULTS_PATH}": self._set_faults,
            f"POST {RESET_PATH}": self._reset,
            # moto's own reset would remove the seed.
            "POST /moto-api/reset": self._reset,
        }

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        called = f"{environ['REQUEST_METHOD']} {environ.get('PATH_INFO', '')}"
        if called in self._controls:
            try:
                return self._controls[called](environ, start_response)
            except EmbeddedAwsError as error:
                return _plain(start_response, HTTPStatus.BAD_REQUEST, str(error))
        if f"{environ.get('PATH_INFO', '')}/".startswith(CONTROLS):
            controls = "; ".join(name for name in self._controls if CONTROLS in name)
            message = f"there is no control {called}; the controls are: {controls}"
            return _plain(start_response, HTTPStatus.NOT_FOUND, message)
        if self._registry and self._registry.serves(environ):
            return self._registry(environ, start_response)
        account = self._settings.accounts[0]
        found = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
        if found:
            key, region, service = found.groups()
            account = account_of(key) or self._issuer(key) or account
            if refusal := self._refusal(account, region, service):
                return _refuse(environ, start_response, service, *refusal)
            if self._faults and (fault := self._fault(environ, account, region, service)):
                return _refuse(
                    environ, start_response, service, fault.code, fault.message, fault.status
                )
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
        try:
            return self._application(environ, start_response)
        except NotImplementedError as error:
            # Otherwise the answer would be an HTTP 500, which SDKs retry.
            service = found[3] if found else ""
            message = f"The embedded AWS does not support this call ({error})"
            return _refuse(environ, start_response, service, "UnsupportedOperation", message)

    def _refusal(self, account: str, region: str, service: str) -> tuple[str, str] | None:
        """Return error code and message when the account or region is not enabled."""
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

    def _status(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        status = {
            "accounts": self._settings.accounts,
            "regions": self._settings.regions,
            "as_of": self._as_of and self._as_of.isoformat(),
        }
        return [json.dumps(status).encode()]

    def _set_faults(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        self._faults.set(from_json(_body(environ)))
        start_response("204 No Content", [])
        return []

    def _fault(self, environ: Environ, account: str, region: str, service: str) -> Fault | None:
        """Return the fault for a request, or None."""
        body = _body(environ)
        environ["wsgi.input"] = BytesIO(body)
        if target := environ.get("HTTP_X_AMZ_TARGET"):
            operation = target.rpartition(".")[2]
            parameters = {name: str(value) for name, value in json.loads(body or b"{}").items()}
        else:
            parameters = dict(parse_qsl(body.decode(errors="replace")))
            operation = parameters.get("Action", "")
        if operation in _LAUNCHES and (zone := self._zone(account, region, parameters)):
            parameters["AvailabilityZone"] = zone
        return self._faults.take(service, operation, parameters)

    def _reset(self, environ: Environ, start_response: StartResponse) -> NoReturn:
        body = _body(environ)
        as_of = json.loads(body).get("as_of") if body else None
        asked = replace(self._settings, as_of=parse_as_of(as_of)) if as_of else self._settings
        self._start_over(environ["werkzeug.socket"], asked.as_of)


def _body(environ: Environ) -> bytes:
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return body


def _plain(start_response: StartResponse, status: HTTPStatus, text: str) -> Iterable[bytes]:
    start_response(f"{status.value} {status.phrase}", [("Content-Type", "text/plain")])
    return [f"{text}\n".encode()]


def _refuse(
    environ: Environ,
    start_response: StartResponse,
    service: str,
    code: str,
    message: str,
    status: int = 403,
) -> Iterable[bytes]:
    """Answer an error in the protocol of the request, so that every SDK reads code and message."""
    form = environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")
    kind = "text/xml"
    error = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
    if service == "ec2":
        body = f"<Response><Errors><Error>{error}</Error></Errors></Response>"
    elif service == "s3":
        body = f"<Error>{error}</Error>"
    elif form or service in ("route53", "cloudfront"):
        body = f"<ErrorResponse><Error>{error}</Error></ErrorResponse>"
    else:
        kind, body = "application/json", json.dumps({"__type": code, "message": message})
    start_response(
        f"{status} {HTTPStatus(status).phrase}",
        [("Content-Type", kind), ("x-amzn-errortype", code)],
    )
    return [body.encode()]
