"""Holding calls with the credentials of a role or a user against their policies.

IAM user guide, "Troubleshoot access denied error messages", "Temporary security credentials"; the
error codes are those of each protocol, in the API references of EC2, S3, Batch, SSM, IAM.
"""

import json
from collections.abc import Container
from functools import partial

from moto.backends import get_backend
from moto.core.utils import utcnow

from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.condition_keys import values_of
from embedded_aws.iam.policy_evaluation import Policy, allows, denies
from embedded_aws.iam.principals import IDENTITY, Principal
from embedded_aws.iam.required_permissions import Permission
from embedded_aws.iam.roles import trust_policy
from embedded_aws.iam.service_principals import statements_of
from embedded_aws.refused_call import RefusedCall

# By protocol, what follows an error code, and the HTTP status where it is not 403.
_SUFFIXES = {"json": "Exception", "rest-json": "Exception"}
_STATUSES = {"json": 400}


def expiry(principal: Principal, call: ApiCall) -> RefusedCall | None:
    """Return the error for credentials that have expired, or None."""
    if principal.expires is None or utcnow() < principal.expires:
        return None
    if call.service == "ec2":
        return RefusedCall(call.service, "RequestExpired", "Request has expired.", 400)
    if call.service == "s3":
        message = "The provided token has expired."
        return RefusedCall(call.service, "ExpiredToken", message, 400)
    return RefusedCall(
        call.service,
        "ExpiredToken" + _SUFFIXES.get(call.protocol, ""),
        "The security token included in the request is expired",
        _STATUSES.get(call.protocol, 403),
    )


def denied(principal: Principal, permission: Permission) -> RefusedCall | None:
    """Return the error for a permission that somebody does not have, or None."""
    reasons = [_reason(principal, permission, arn) for arn in permission.resources]
    if None in reasons:
        return None
    message = (
        f"User: {principal.arn} is not authorized to perform: {permission.action} on resource: "
        f"{permission.resources[0]} {reasons[0]}"
    )
    call = permission.call
    if call.service == "ec2":
        message = f"You are not authorized to perform this operation. {message}"
        return RefusedCall(call.service, "UnauthorizedOperation", message)
    code = "AccessDenied" + _SUFFIXES.get(call.protocol, "")
    if call.service == "sns":
        code = "AuthorizationError"
    return RefusedCall(call.service, code, message, _STATUSES.get(call.protocol, 403))


def _reason(principal: Principal, permission: Permission, arn: str) -> str | None:
    """Return why the policies do not allow an action on one resource, or None."""
    context = partial(values_of, principal, permission.call, arn)
    # "Policy evaluation for requests within a single account": what a resource's policy gives to
    # the ARN of a user or a session is not limited by boundaries and session policies; what it
    # gives to a role is.
    policy = _resource_policy(principal.account_id, arn)
    direct = [statements_about(policy, {principal.arn})]
    of_resource = [statements_about(policy, {"*", principal.entity_arn, principal.arn})]
    for kind, policies in {**principal.policies, "resource-based policy": of_resource}.items():
        if denies(policies, permission.action, arn, context):
            article = "an" if kind == IDENTITY else "a"
            return f"with an explicit deny in {article} {kind}"
    if allows(direct, permission.action, arn, context):
        return None
    for kind, policies in principal.policies.items():
        allowing = [*policies, *of_resource] if kind == IDENTITY else policies
        if not allows(allowing, permission.action, arn, context):
            return f"because no {kind} allows the {permission.action} action"
    return None


def _resource_policy(account: str, arn: str) -> Policy:
    """Return the policy of the bucket of an ARN, or of a role, its trust policy; else an empty one.

    STS API reference, AssumeRole: a user needs no policy of its own to assume a role of its account
    whose trust policy names it.
    """
    if ":role/" in arn:
        return trust_policy(account, arn)
    buckets = get_backend("s3")[account]["aws"].buckets
    bucket = buckets.get(arn.removeprefix("arn:aws:s3:::").partition("/")[0])
    found: Policy = json.loads(bucket.policy) if bucket and bucket.policy else {}
    return found


def statements_about(policy: Policy, names: Container[str]) -> Policy:
    """Return what a resource's policy says about these principals, as a policy."""
    statements = statements_of(policy)
    return {"Statement": [each for each in statements if _concerns(each, names)]}


def _concerns(statement: Policy, names: Container[str]) -> bool:
    """Whether one of these is a statement's principal."""
    principal = statement.get("Principal", {})
    named = principal.get("AWS", []) if isinstance(principal, dict) else principal
    return any(name in names for name in ([named] if isinstance(named, str) else named))
