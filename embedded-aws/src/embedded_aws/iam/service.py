"""What IAM does beside answering calls: it holds those of roles against the roles' policies."""

import json
from dataclasses import asdict

from werkzeug import Request, Response

from embedded_aws.admission import Caller
from embedded_aws.hooks import before_call, when_loaded
from embedded_aws.iam.api_calls import read_call
from embedded_aws.iam.enforcement import denied, expiry, session_of
from embedded_aws.iam.required_permissions import required_permissions, whole_reference
from embedded_aws.iam.use_record import UseRecord
from embedded_aws.offered_controls import control
from embedded_aws.role_use import ROLES_PATH
from embedded_aws.settings import ServerSettings

_use_record = UseRecord()


@when_loaded
def _load_reference() -> None:
    whole_reference()


@before_call
def _check_permissions(request: Request, caller: Caller) -> None:
    """Refuse what a role's credentials do not allow."""
    session = session_of(caller.account, caller.key)
    if session is None:
        return
    call = read_call(request, caller.service, caller.account, caller.region)
    if expired := expiry(session, call):
        raise expired
    permissions = list(required_permissions(call))
    for permission in permissions:
        if denial := denied(session, permission):
            _use_record.denied(session, permission)
            raise denial
    _use_record.used(session, permissions)


@control("GET", ROLES_PATH)
def _tell_roles(_: Request, settings: ServerSettings) -> Response:
    rows = [asdict(row) for row in _use_record.rows(settings.accounts)]
    return Response(json.dumps(rows), mimetype="application/json")
