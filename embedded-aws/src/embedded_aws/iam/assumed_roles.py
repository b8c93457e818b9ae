"""Only roles that exist can be assumed; what their trust policies say is not evaluated.

STS API reference, AssumeRole: AccessDenied. From memory: the words.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.iam.roles import role_exists


@action("sts", "AssumeRole")
def assume_role(call: Call) -> Any:
    """Start a session of a role; of the roles of other accounts, every call is denied later."""
    if call.params.get("PolicyArns"):
        raise NotImplementedError("AssumeRole with PolicyArns; give the policy as Policy")
    arn = call.params["RoleArn"]
    if f":{call.account}:" in arn and not role_exists(call, arn):
        raise Refusal(
            "AccessDenied",
            f"User: arn:aws:iam::{call.account}:root is not authorized to perform: "
            f"sts:AssumeRole on resource: {arn}",
        )
    return call.moto()
