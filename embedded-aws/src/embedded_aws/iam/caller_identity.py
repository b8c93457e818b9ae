"""Who a caller is: with the credentials of an account, its root user.

STS API reference, GetCallerIdentity; IAM user guide, "IAM identifiers": the ARN of the root user,
and its id, which is the account's.
"""

from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.settings import account_of


@action("sts", "GetCallerIdentity")
def get_caller_identity(call: Call) -> Any:
    """Tell the caller's account, ARN and id."""
    if account_of(call.response.access_key) is None:
        return call.moto()
    account = call.account
    return {"UserId": account, "Account": account, "Arn": f"arn:aws:iam::{account}:root"}
