"""Who a caller is: with the credentials of an account, its root user.

STS API reference, GetCallerIdentity; IAM user guide, "IAM identifiers": the ARN of the root user,
and its id, which is the account's. From memory: the refusal of a session whose role or user is
gone.
"""

from typing import Any

from embedded_aws.actions import Call, action, existing
from embedded_aws.iam.principals import principal_of


@action("sts", "GetCallerIdentity")
def get_caller_identity(call: Call) -> Any:
    """Tell the caller's account, ARN and id."""
    principal = principal_of(call.account, call.response.access_key)
    user_id = existing(
        principal.keys.get("userid"),
        "InvalidClientTokenId",
        "The security token included in the request is invalid",
    )
    return {"UserId": user_id, "Account": call.account, "Arn": principal.arn}
