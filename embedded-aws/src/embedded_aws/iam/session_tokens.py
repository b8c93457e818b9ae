"""Temporary credentials that are not a role's.

STS API reference, GetSessionToken: 15 minutes to 36 hours, 12 by default, an hour at most for the
root user; no calls of IAM without MFA, of STS only AssumeRole and GetCallerIdentity.
GetFederationToken: as long, but six hours at most for the root user; no calls of IAM, of STS only
GetCallerIdentity. IAM user guide, "Temporary security credentials in IAM": a call with them has
their session token. moto answers with the credentials of an example of AWS's, which everybody
knows; here each answer has its own, which the gateway knows. From memory: the codes and words of
the refusals, and that longer sessions of the root user are cut.
"""

from datetime import timedelta
from typing import Any

from moto.core.utils import get_service_model, utcnow
from moto.iam.models import AccessKey
from moto.sts.utils import random_session_token

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.constraints import violations
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.principals import TemporaryKey, principal_of, session_of, temporary_key
from embedded_aws.refused_call import RefusedCall

# Seconds, by default and of the root user.
_DEFAULT = 43_200
_LONGEST_OF_ROOT = {"GetSessionToken": 3600, "GetFederationToken": 21_600}
_NOT_OFFERED = {
    "PolicyArns": "give the policy as Policy",
    "SerialNumber": "the embedded AWS checks no codes of MFA devices",
    "TokenCode": "the embedded AWS checks no codes of MFA devices",
}


@action("sts", "GetFederationToken", "GetSessionToken")
def get_token(call: Call) -> Any:
    """Return temporary credentials of the caller's account, with no more than he may."""
    own = call.response.access_key
    if session_of(call.account, own) or temporary_key(call.account, own):
        raise Refusal("AccessDenied", f"Cannot call {call.operation} with session credentials")
    for name, why in _NOT_OFFERED.items():
        if name in call.params:
            raise NotImplementedError(f"{call.operation} with {name}: {why}")
    shape = get_service_model("sts").operation_model(call.operation).input_shape
    for violation in violations(shape, call.params, ""):
        raise Refusal("ValidationError", violation)
    seconds = call.params.get("DurationSeconds", _DEFAULT)
    user = principal_of(call.account, own).user_name
    expires = utcnow() + timedelta(
        seconds=seconds if user else min(seconds, _LONGEST_OF_ROOT[call.operation])
    )
    answer = call.moto()
    key = call.backend("iam").create_temp_access_key()
    key.embedded_aws_temporary = TemporaryKey(
        token=random_session_token(),
        user_name=user,
        federated=call.params.get("Name", ""),
        policy=call.params.get("Policy", ""),
        expires=expires,
    )
    answer.result["Credentials"] |= {
        "AccessKeyId": key.access_key_id,
        "SecretAccessKey": key.secret_access_key,
        "SessionToken": key.embedded_aws_temporary.token,
        "Expiration": expires,
    }
    return answer


def closed_to_sessions(account: str, key: str, call: ApiCall) -> RefusedCall | None:
    """Return the error for a call that such credentials never make, or None."""
    temporary = temporary_key(account, key)
    if temporary is None or call.service not in ("iam", "sts"):
        return None
    allowed = {"GetCallerIdentity"} if temporary.federated else {"AssumeRole", "GetCallerIdentity"}
    if call.service == "sts" and call.operation in allowed:
        return None
    if call.service == "sts":
        message = f"Cannot call {call.operation} with session credentials"
        return RefusedCall(call.service, "AccessDenied", message)
    message = "The security token included in the request is invalid"
    return RefusedCall(call.service, "InvalidClientTokenId", message)


def session_token(account: str, key: AccessKey) -> str:
    """Return the token of a temporary access key; an empty text for a key that lasts."""
    if session := session_of(account, key.access_key_id):
        return session.session_token
    temporary = temporary_key(account, key.access_key_id)
    return temporary.token if temporary else ""
