"""The gateway of the embedded AWS: checks caller, account and region of each request.

A WSGI application around moto's. It answers the controls itself, whose paths begin with
`/_embedded-aws/`.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from http import HTTPStatus
from socket import socket
from typing import NoReturn
from xml.sax.saxutils import escape

from werkzeug import Request, Response

from embedded_aws.admission import IN_XML, Caller, admit, refusal_of_page
from embedded_aws.clock import let_pass, time_from_json
from embedded_aws.controls import CLOCK_PATH, CONTROLS, RESET_PATH, STATUS_PATH
from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.faults import FAULTS_PATH, from_json
from embedded_aws.faults_of_calls import faults, take_fault
from embedded_aws.hooks import before_call, when_faults_changed, when_time_passed
from embedded_aws.offered_controls import Control, ControlError, offered_controls, posted
from embedded_aws.refused_call import RefusedCall
from embedded_aws.request_bodies import check_json, inflated
from embedded_aws.service_settings import current
from embedded_aws.settings import ServerSettings, account_of, parse_as_of
from embedded_aws.unsigned import answer_to_unsigned
from embedded_aws.wsgi import Application, Environ, StartResponse

# Answers this connection from a reset AWS as of a day; never returns.
StartOver = Callable[[socket, date | None], NoReturn]

_CONTROLS_OF_MOTO = "/moto-api/"
_ASKS_STATUS = f"GET {STATUS_PATH}"
# Signed for us-east-1 (Cost Explorer and Pricing have no other endpoint), wherever the caller is.
# https://docs.aws.amazon.com/general/latest/gr/rande.html#global-endpoints
_GLOBAL_SERVICES = frozenset(
    {"iam", "sts", "route53", "cloudfront", "budgets", "ce", "pricing", "organizations"}
    | {"account", "health", "support", "savingsplans", "globalaccelerator", "shield", "waf"}
)


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
        self._controls: dict[str, Control] = {
            **offered_controls(),
            _ASKS_STATUS: _status,
            f"POST {FAULTS_PATH}": _set_faults,
            f"POST {CLOCK_PATH}": _let_pass,
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
        if answer := answer_to_unsigned(request, self._moto):
            return answer
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
            return _error(request, error)
        return self._call(plain, caller)

    def _control(self, request: Request, caller: Caller) -> Application:
        """Return what answers a control."""
        called = f"{request.method} {request.path}"
        # What answers here is no secret: commands that act by a role make sure of it.
        if account_of(caller.key) is None and called != _ASKS_STATUS:
            message = "the controls take the credentials that `env` prints, not those of a role\n"
            return Response(message, HTTPStatus.FORBIDDEN)
        if called in self._controls:
            try:
                return self._controls[called](request, self._settings)
            except EmbeddedAwsError as error:
                return Response(f"{error}\n", HTTPStatus.BAD_REQUEST)
        if request.path.startswith(_CONTROLS_OF_MOTO):
            return self._moto
        controls = "; ".join(sorted(name for name in self._controls if CONTROLS in name))
        message = f"there is no control {called}; the controls are: {controls}\n"
        return Response(message, HTTPStatus.NOT_FOUND)

    def _call(self, request: Request, caller: Caller) -> Application:
        """Return what answers a call of AWS."""
        request.environ["HTTP_X_MOTO_ACCOUNT_ID"] = caller.account
        if caller.service == "sts" and "X-Amz-Credential" in request.args:
            # moto takes a call without this header for one of S3.
            header = f"AWS4-HMAC-SHA256 Credential={request.args['X-Amz-Credential']}"
            request.environ["HTTP_AUTHORIZATION"] = header

        def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
            try:
                self._check(request, caller)
                return self._moto(environ, start_response)
            except RefusedCall as error:
                refused = error
            except NotImplementedError as reason:
                # In place of an HTTP 500, which SDKs retry.
                message = f"The embedded AWS does not support this call ({reason})"
                refused = RefusedCall(caller.service, "UnsupportedOperation", message)
            return _error(request, refused)(environ, start_response)

        return answer

    def _check(self, request: Request, caller: Caller) -> None:
        """Refuse a call that does not get as far as its service.

        Raises:
            RefusedCall: with the error.
        """
        self._check_place(caller)
        before_call.call(request, caller)
        if faults and (fault := take_fault(request, caller)):
            time.sleep(fault.seconds)
            if fault.code:
                raise RefusedCall(caller.service, fault.code, fault.message, fault.status)

    def _check_place(self, caller: Caller) -> None:
        """Refuse an account or region that is not enabled."""
        service, account, region = caller.service, caller.account, caller.region
        if account not in self._settings.accounts:
            raise RefusedCall(
                service,
                "AccessDenied",
                f"Account {account} is not part of this embedded AWS, which has "
                f"{', '.join(self._settings.accounts)}: start it with --account {account}",
            )
        at_home = region in self._settings.regions
        if not (at_home or (service in _GLOBAL_SERVICES and region == "us-east-1")):
            raise RefusedCall(
                service,
                "OptInRequired",
                f"Region {region} is not enabled in this embedded AWS, which has "
                f"{', '.join(self._settings.regions)}: start it with --region {region}",
            )

    def _reset(self, request: Request, settings: ServerSettings) -> NoReturn:
        asked = posted(request) if request.get_data() else {}
        as_of = asked.get("as_of") if isinstance(asked, dict) else asked
        if not (isinstance(asked, dict) and set(asked) <= {"as_of"}):
            raise ControlError('a reset takes nothing, or an object such as {"as_of": "2026-06"}')
        if not isinstance(as_of, str | None):
            raise ControlError(f"as_of is a text such as 2026-06 or null, got {as_of!r}")
        day = parse_as_of(as_of) if as_of is not None else settings.as_of
        checked = replace(settings, as_of=day)
        self._start_over(request.environ["werkzeug.socket"], checked.as_of)


def _status(_: Request, settings: ServerSettings) -> Response:
    as_of = current().as_of
    status = {
        "accounts": settings.accounts,
        "regions": settings.regions,
        "as_of": as_of and as_of.isoformat(),
    }
    return Response(json.dumps(status), mimetype="application/json")


def _set_faults(request: Request, _: ServerSettings) -> Response:
    faults.set(from_json(posted(request)))
    when_faults_changed.call()
    return Response(status=HTTPStatus.NO_CONTENT)


def _let_pass(request: Request, _: ServerSettings) -> Response:
    let_pass(time_from_json(posted(request)))
    when_time_passed.call()
    return Response(status=HTTPStatus.NO_CONTENT)


def _error(request: Request, refused: RefusedCall) -> Response:
    """Return an error in the protocol of the request, so that every SDK reads code and message."""
    service, code, message = refused.service, refused.code, refused.message
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
    return Response(body, refused.status, {"x-amzn-errortype": code}, kind)
