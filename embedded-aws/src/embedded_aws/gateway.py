"""The gateway of the embedded AWS: checks caller, account and region of each request.

A WSGI application around moto's. It answers the controls itself, whose paths begin with
`/_embedded-aws/`.
"""

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import date
from http import HTTPStatus
from socket import socket
from typing import Any, NoReturn
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from werkzeug import Request, Response

from embedded_aws.admission import IN_XML, Caller, admit, refusal_of_page
from embedded_aws.cloudformation.execution.custom import RESPONSE_PATH
from embedded_aws.controls import CONTROLS, RESET_PATH, STATUS_PATH
from embedded_aws.ec2.zones import zone_of_launch
from embedded_aws.ecr.registry import Registry
from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.faults import FAULTS_PATH, Fault, from_json
from embedded_aws.hooks import when_faults_changed
from embedded_aws.hosts.credentials import CREDENTIALS_PATH
from embedded_aws.hosts.service import hosts
from embedded_aws.iam.api_calls import read_call
from embedded_aws.iam.enforcement import Denial, denied, expiry, session_of
from embedded_aws.iam.required_permissions import required_permissions
from embedded_aws.iam.use_record import UseRecord
from embedded_aws.refused_call import RefusedCall
from embedded_aws.request_bodies import check_json, inflated
from embedded_aws.role_use import ROLES_PATH
from embedded_aws.service_quotas.grants import QUOTAS_PATH, grants_from_json
from embedded_aws.service_settings import current
from embedded_aws.settings import ServerSettings, account_of, parse_as_of

# JSON and WSGI have no types.
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
# Answers this connection from a reset AWS as of a day; never returns.
StartOver = Callable[[socket, date | None], NoReturn]

_LAUNCHES = ("RunInstances", "CreateFleet")
_CONTROLS_OF_MOTO = "/moto-api/"
_RESPONSE_PATH = re.compile(RESPONSE_PATH.format(region="[^/]+"))
# Signed for us-east-1 (Cost Explorer and Pricing have no other endpoint), wherever the caller is.
# https://docs.aws.amazon.com/general/latest/gr/rande.html#global-endpoints
_GLOBAL_SERVICES = frozenset(
    {"iam", "sts", "route53", "cloudfront", "budgets", "ce", "pricing", "organizations"}
    | {"account", "health", "support", "savingsplans", "globalaccelerator", "shield", "waf"}
)


class ControlError(EmbeddedAwsError):
    """What was posted to a control is not possible."""


class Gateway:
    """Passes requests of the enabled accounts and regions on to moto.

    Args:
        moto: moto's WSGI application.
        settings: what is enabled.
        start_over: called for a reset, with the day from the request or the settings.
    """

    def __init__(self, moto: Application, settings: ServerSettings, start_over: StartOver) -> None:
        self._moto = moto
        self._settings = settings
        self._start_over = start_over
        self._registry = (
            Registry(settings.registry, settings.secret_key) if settings.registry else None
        )
        self._use_record = UseRecord()
        self._controls: dict[str, Callable[[Request], Response]] = {
            f"GET {STATUS_PATH}": self._status,
            f"GET {ROLES_PATH}": self._roles,
            f"POST {FAULTS_PATH}": self._set_faults,
            f"POST {QUOTAS_PATH}": self._set_quotas,
            f"POST {RESET_PATH}": self._reset,
            # moto's own reset would remove the seed.
            "POST /moto-api/reset": self._reset,
        }

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        return self._answer(Request(environ))(environ, start_response)

    def _answer(self, request: Request) -> Application:
        """Return what answers a request."""
        if refusal := refusal_of_page(request):
            return Response(f"{refusal}\n", HTTPStatus.FORBIDDEN)
        if request.method == "GET" and request.path.startswith(CREDENTIALS_PATH):
            return _role_credentials(request)
        if self._registry and self._registry.serves(request):
            return self._registry
        # Its token is as secret as a signature.
        if request.method == "PUT" and _RESPONSE_PATH.fullmatch(request.path):
            return self._moto
        control = f"{request.path}/".startswith((CONTROLS, _CONTROLS_OF_MOTO))
        try:
            caller = admit(request, self._settings)
            if control:
                return self._control(request, caller)
            plain = inflated(request, caller.service)
            check_json(plain, caller.service)
        except RefusedCall as error:
            if control:
                return Response(f"{error.message}\n", error.status)
            return _error(request, error.service, error.code, error.message, error.status)
        return self._call(plain, caller)

    def _control(self, request: Request, caller: Caller) -> Application:
        """Return what answers a control."""
        if account_of(caller.key) is None:
            message = "the controls take the credentials that `env` prints, not those of a role\n"
            return Response(message, HTTPStatus.FORBIDDEN)
        called = f"{request.method} {request.path}"
        if called in self._controls:
            try:
                return self._controls[called](request)
            except EmbeddedAwsError as error:
                return Response(f"{error}\n", HTTPStatus.BAD_REQUEST)
        if request.path.startswith(_CONTROLS_OF_MOTO):
            return self._moto
        controls = "; ".join(name for name in self._controls if CONTROLS in name)
        message = f"there is no control {called}; the controls are: {controls}\n"
        return Response(message, HTTPStatus.NOT_FOUND)

    def _call(self, request: Request, caller: Caller) -> Application:
        """Return what answers a call of AWS."""
        request.environ["HTTP_X_MOTO_ACCOUNT_ID"] = caller.account

        def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
            try:
                error = self._prevented(request, caller)
                return (error or self._moto)(environ, start_response)
            except NotImplementedError as reason:
                # In place of an HTTP 500, which SDKs retry.
                message = f"The embedded AWS does not support this call ({reason})"
                unsupported = _error(request, caller.service, "UnsupportedOperation", message)
                return unsupported(environ, start_response)

        return answer

    def _prevented(self, request: Request, caller: Caller) -> Response | None:
        """Return the error for a call that does not get as far as its service, or None."""
        service = caller.service
        if refusal := self._refusal(caller):
            return _error(request, service, *refusal)
        if denial := self._denial(request, caller):
            return _error(request, service, denial.code, denial.message, denial.status)
        if current().faults and (fault := _fault(request, caller)):
            time.sleep(fault.seconds)
            if fault.code:
                return _error(request, service, fault.code, fault.message, fault.status)
        return None

    def _refusal(self, caller: Caller) -> tuple[str, str] | None:
        """Return error code and message when the account or region is not enabled."""
        account, region = caller.account, caller.region
        if account not in self._settings.accounts:
            return "AccessDenied", (
                f"Account {account} is not part of this embedded AWS, which has "
                f"{', '.join(self._settings.accounts)}: start it with --account {account}"
            )
        at_home = region in self._settings.regions
        if at_home or (caller.service in _GLOBAL_SERVICES and region == "us-east-1"):
            return None
        return "OptInRequired", (
            f"Region {region} is not enabled in this embedded AWS, which has "
            f"{', '.join(self._settings.regions)}: start it with --region {region}"
        )

    def _denial(self, request: Request, caller: Caller) -> Denial | None:
        """Return the error for what a role's credentials do not allow, or None."""
        session = session_of(caller.account, caller.key)
        if session is None:
            return None
        call = read_call(request, caller.service, caller.account, caller.region)
        if expired := expiry(session, call):
            return expired
        permissions = list(required_permissions(call))
        for permission in permissions:
            if denial := denied(session, permission):
                self._use_record.denied(session, permission)
                return denial
        self._use_record.used(session, permissions)
        return None

    def _status(self, request: Request) -> Response:
        as_of = current().as_of
        status = {
            "accounts": self._settings.accounts,
            "regions": self._settings.regions,
            "as_of": as_of and as_of.isoformat(),
        }
        return Response(json.dumps(status), mimetype="application/json")

    def _roles(self, request: Request) -> Response:
        rows = [asdict(row) for row in self._use_record.rows(self._settings.accounts)]
        return Response(json.dumps(rows), mimetype="application/json")

    def _set_faults(self, request: Request) -> Response:
        current().faults.set(from_json(_json(request)))
        when_faults_changed.call()
        return Response(status=HTTPStatus.NO_CONTENT)

    def _set_quotas(self, request: Request) -> Response:
        grants = grants_from_json(_json(request), self._settings.accounts, self._settings.regions)
        for grant in grants:
            grant.apply()
        return Response(status=HTTPStatus.NO_CONTENT)

    def _reset(self, request: Request) -> NoReturn:
        asked = _json(request) if request.get_data() else {}
        as_of = asked.get("as_of") if isinstance(asked, dict) else asked
        if not (isinstance(asked, dict) and set(asked) <= {"as_of"}):
            raise ControlError('a reset takes nothing, or an object such as {"as_of": "2026-06"}')
        if not isinstance(as_of, str | None):
            raise ControlError(f"as_of is a text such as 2026-06 or null, got {as_of!r}")
        day = parse_as_of(as_of) if as_of is not None else self._settings.as_of
        checked = replace(self._settings, as_of=day)
        self._start_over(request.environ["werkzeug.socket"], checked.as_of)


def _role_credentials(request: Request) -> Response:
    """Answer a process, which asks as the SDKs do, with credentials of its role."""
    session = request.path.removeprefix(CREDENTIALS_PATH)
    token = request.headers.get("Authorization", "")
    running = hosts()
    answer = running.credentials.answer(session, token) if running else None
    if answer is None:
        return Response(
            json.dumps({"code": "AccessDenied", "message": "no process has this token"}),
            HTTPStatus.FORBIDDEN,
            mimetype="application/json",
        )
    return Response(json.dumps(answer), mimetype="application/json")


def _json(request: Request) -> Any:
    try:
        return json.loads(request.get_data())
    except (ValueError, RecursionError) as error:
        raise ControlError(f"this is not JSON: {error}") from error


def _fault(request: Request, caller: Caller) -> Fault | None:
    """Return the fault for a request, or None."""
    body = request.get_data()
    if target := request.headers.get("X-Amz-Target"):
        operation = target.rpartition(".")[2]
        parameters = {name: str(value) for name, value in json.loads(body or b"{}").items()}
    else:
        parameters = dict(parse_qsl(body.decode(errors="replace")))
        operation = parameters.get("Action", "")
    if operation in _LAUNCHES and (
        zone := zone_of_launch(caller.account, caller.region, parameters)
    ):
        parameters["AvailabilityZone"] = zone
    return current().faults.take(caller.service, operation, parameters, from_outside=True)


def _error(
    request: Request, service: str, code: str, message: str, status: int = HTTPStatus.FORBIDDEN
) -> Response:
    """Return an error in the protocol of the request, so that every SDK reads code and message."""
    kind = "text/xml"
    error = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
    if service == "ec2":
        body = f"<Response><Errors><Error>{error}</Error></Errors></Response>"
    elif service == "s3":
        body = f"<Error>{error}</Error>"
    elif request.mimetype == "application/x-www-form-urlencoded" or service in IN_XML:
        body = f"<ErrorResponse><Error>{error}</Error></ErrorResponse>"
    else:
        kind, body = "application/json", json.dumps({"__type": code, "message": message})
    return Response(body, status, {"x-amzn-errortype": code}, kind)
