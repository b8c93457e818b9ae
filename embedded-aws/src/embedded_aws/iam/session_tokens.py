"""The session tokens of temporary credentials, and credentials without a role.

IAM user guide, "Temporary security credentials in IAM": a call with temporary credentials has their
session token. moto answers GetSessionToken and GetFederationToken with the credentials of an
example of AWS's, which everybody knows; here each answer has its own, which the gateway knows. From
memory: as those of users, they are not restricted by policies, and do not expire.
"""

from typing import Any

from moto.iam.models import AccessKey
from moto.sts.utils import random_session_token

from embedded_aws.actions import Call, action
from embedded_aws.iam.enforcement import session_of


@action("sts", "GetFederationToken", "GetSessionToken")
def get_token(call: Call) -> Any:
    """Return temporary credentials of the caller's account."""
    answer = call.moto()
    key = call.backend("iam").create_temp_access_key()
    key.session_token = random_session_token()
    answer.result["Credentials"] |= {
        "AccessKeyId": key.access_key_id,
        "SecretAccessKey": key.secret_access_key,
        "SessionToken": key.session_token,
    }
    return answer


def session_token(account: str, key: AccessKey) -> str:
    """Return the token of a temporary access key; an empty text for a key that lasts."""
    session = session_of(account, key.access_key_id)
    return session.session_token if session else getattr(key, "session_token", "")
