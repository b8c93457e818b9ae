"""Only roles that exist can be assumed, and only by whom their trust policies let in.

STS API reference, AssumeRole: AccessDenied. IAM user guide, "AWS JSON policy elements: Principal":
a trust policy names an account, which leaves it to the policies there, a role, a user or a session.
From memory: the words. An account's own credentials assume any role here, which on AWS a root user
cannot.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.condition_keys import values_of
from embedded_aws.iam.enforcement import statements_about
from embedded_aws.iam.policy_evaluation import allows, denies
from embedded_aws.iam.principals import Principal, principal_of
from embedded_aws.iam.roles import role_exists, trust_policy
from embedded_aws.settings import account_of


@action("sts", "AssumeRole")
def assume_role(call: Call) -> Any:
    """Start a session of a role; of the roles of other accounts, every call is denied later."""
    if call.params.get("PolicyArns"):
        raise NotImplementedError("AssumeRole with PolicyArns; give the policy as Policy")
    arn, caller = call.params["RoleArn"], principal_of(call.account, call.response.access_key)
    trusted = account_of(call.response.access_key) or _trusts(call, arn, caller)
    if f":{call.account}:" in arn and not (role_exists(call, arn) and trusted):
        raise Refusal(
            "AccessDenied",
            f"User: {caller.arn} is not authorized to perform: sts:AssumeRole on resource: {arn}",
        )
    return call.moto()


def _trusts(call: Call, arn: str, caller: Principal) -> bool:
    """Whether the trust policy of a role lets somebody in."""
    asked = ApiCall(
        service="sts",
        operation="AssumeRole",
        account=call.account,
        region=call.region,
        protocol="query",
        params=call.params,
    )

    def context(key: str) -> list[str]:
        return list(values_of(caller, asked, arn, key))

    account = f"arn:aws:iam::{caller.account_id}:root"
    names = {"*", caller.account_id, account, caller.entity_arn, caller.arn}
    trusts = [statements_about(trust_policy(call.account, arn), names)]
    action_of_trust = "sts:AssumeRole", arn, context
    return allows(trusts, *action_of_trust) and not denies(trusts, *action_of_trust)
