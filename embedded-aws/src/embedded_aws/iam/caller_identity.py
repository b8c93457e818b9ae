"""Who a caller is: with the credentials of an account, its root user.

STS API reference, GetCallerIdentity; IAM user guide, "IAM identifiers": the ARN of the root user,
and its id, which is the account's.
"""

from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.iam.principals import principal_of


@action("sts", "GetCallerIdentity")
def get_caller_identity(call: Call) -> Any:
    """Tell the caller's account, ARN and id."""
    principal = principal_of(call.account, call.response.access_key)
    return {"UserId": principal.keys["userid"], "Account": call.account, "Arn": principal.arn}
