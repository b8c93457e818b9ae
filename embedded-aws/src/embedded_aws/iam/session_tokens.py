"""Temporary credentials without a role: each answer has its own, which the gateway knows.

moto answers the credentials of an example of AWS's, which everybody knows. [M] As those of users,
they are not restricted by policies, and do not expire.
"""

from typing import Any

from embedded_aws.actions import Call, action


@action("sts", "GetFederationToken", "GetSessionToken")
def get_token(call: Call) -> Any:
    """Return temporary credentials of the caller's account."""
    answer = call.moto()
    key = call.backend("iam").create_temp_access_key()
    answer.result["Credentials"] |= {
        "AccessKeyId": key.access_key_id,
        "SecretAccessKey": key.secret_access_key,
    }
    return answer
