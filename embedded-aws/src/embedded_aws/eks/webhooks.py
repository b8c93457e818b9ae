"""What the API server of a cluster asks: who a token is, and what a user may do.

Kubernetes, "Webhook Token Authentication" and "Webhook Mode": TokenReview and SubjectAccessReview.
aws-iam-authenticator: what it tells of a user in addition.
"""

import json
from collections.abc import Mapping
from typing import Any

from werkzeug import Request, Response

from embedded_aws.actions import Call, Row
from embedded_aws.eks.access_entries import entry_for
from embedded_aws.eks.access_policies import allowed
from embedded_aws.eks.calls import guard
from embedded_aws.eks.control_planes import AUTHENTICATE, AUTHORIZE, WEBHOOKS_PATH, control_planes
from embedded_aws.eks.tokens import NoUser, user_of
from embedded_aws.unsigned import answers_unsigned
from embedded_aws.wsgi import Application

_PRINCIPAL = "canonicalArn"


@answers_unsigned
def _answer(request: Request, moto: Application) -> Application | None:
    """Answer the API server of a cluster, which has URLs of its own."""
    planes = control_planes()
    if planes is None or not request.path.startswith(WEBHOOKS_PATH):
        return None
    part, _, name = request.path.removeprefix(WEBHOOKS_PATH).partition("/")
    asking, answer = planes.asking(part), _REVIEWS.get(name)
    if asking is None or answer is None:
        return Response("there is no such webhook\n", 404)
    review = json.loads(request.get_data())
    status = answer(*asking, review["spec"])
    kept = {name: review[name] for name in ("apiVersion", "kind")}
    return Response(json.dumps({**kept, "status": status}), mimetype="application/json")


def _authenticated(call: Call, cluster: Row, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tell who a token is."""
    try:
        user = user_of(call, cluster, asked["token"])
    except NoUser as reason:
        return {"authenticated": False, "error": str(reason)}
    extra = {"arn": [user.arn], _PRINCIPAL: [user.principal]}
    shown = {"username": user.username, "groups": list(user.groups), "extra": extra}
    return {"authenticated": True, "user": shown}


def _authorized(call: Call, cluster: Row, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Allow what the access policies of the user's entry do; others may allow it otherwise."""
    principals = asked.get("extra", {}).get(_PRINCIPAL, [])
    with guard:
        for principal in principals:
            entry = entry_for(call, cluster["name"], principal)
            if entry and allowed(entry["policies"], asked):
                return {"allowed": True, "reason": "an EKS access policy allows it"}
    return {"allowed": False}


_REVIEWS = {AUTHENTICATE: _authenticated, AUTHORIZE: _authorized}
