"""What IAM does beside answering calls: it holds roles and users to their policies."""

import json
from dataclasses import asdict

from werkzeug import Request, Response

from embedded_aws.admission import Caller
from embedded_aws.hooks import before_call, when_loaded
from embedded_aws.iam.api_calls import read_call
from embedded_aws.iam.enforcement import denied, expiry
from embedded_aws.iam.principals import principal_of
from embedded_aws.iam.required_permissions import required_permissions, whole_reference
from embedded_aws.iam.session_tokens import closed_to_sessions
from embedded_aws.iam.use_record import UseRecord
from embedded_aws.iam.users import with_own_name
from embedded_aws.offered_controls import control
from embedded_aws.role_use import ROLES_PATH
from embedded_aws.settings import ServerSettings, account_of

_use_record = UseRecord()


@when_loaded
def _load_reference() -> None:
    whole_reference()


@before_call
def _check_permissions(request: Request, caller: Caller) -> None:
    """Refuse what a caller's credentials do not allow; an account's own allow everything."""
    if account_of(caller.key):
        return
    principal = principal_of(caller.account, caller.key)
    call = read_call(request, caller.service, caller.account, caller.region)
    if expired := expiry(principal, call):
        raise expired
    if closed := closed_to_sessions(caller.account, caller.key, call):
        raise closed
    permissions = list(required_permissions(with_own_name(call, principal.user_name)))
    for permission in permissions:
        if denial := denied(principal, permission):
            _use_record.denied(principal, permission)
            raise denial
    _use_record.used(principal, permissions)


@control("GET", ROLES_PATH)
def _tell_roles(_: Request, settings: ServerSettings) -> Response:
    rows = [asdict(row) for row in _use_record.rows(settings.accounts)]
    return Response(json.dumps(rows), mimetype="application/json")
