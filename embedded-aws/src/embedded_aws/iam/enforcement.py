"""Holding calls with a role's credentials against the role's policies.

IAM user guide, "Troubleshoot access denied error messages", "Temporary security credentials"; the
error codes are those of each protocol, in the API references of EC2, S3, Batch, SSM, IAM.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from moto.backends import get_backend
from moto.core.resource_tagging import iter_taggable_backends
from moto.core.utils import utcnow
from moto.iam.models import ManagedPolicy, Role
from moto.sts.models import AssumedRole

from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.policy_evaluation import Policy, allows, denies
from embedded_aws.iam.required_permissions import Permission
from embedded_aws.iam.service_principals import statements_of
from embedded_aws.refused_call import RefusedCall

# By protocol, what follows an error code, and the HTTP status where it is not 403.
_SUFFIXES = {"json": "Exception", "rest-json": "Exception"}
_STATUSES = {"json": 400}
_IDENTITY = "identity-based policy"
# Policies by the name of their kind in AWS's messages.
_Kinds = Mapping[str, Sequence[Policy]]


class Session(Protocol):
    """A session of a role."""

    @property
    def account_id(self) -> str:
        """12 digits."""

    @property
    def arn(self) -> str:
        """Of the session."""

    @property
    def role_arn(self) -> str:
        """Of its role."""

    @property
    def policy(self) -> str:
        """Its own policy, or an empty text."""


def session_of(account: str, key: str) -> AssumedRole | None:
    """Return the session of a role that has this access key, or None."""
    return get_backend("sts")[account]["aws"].get_assumed_role_from_access_key(key)


def expiry(session: AssumedRole, call: ApiCall) -> RefusedCall | None:
    """Return the error for credentials that have expired, or None."""
    if utcnow() < session.expiration:
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


def denied(session: Session, permission: Permission) -> RefusedCall | None:
    """Return the error for a permission that a role does not have, or None."""
    kinds = _policies(session)
    reasons = [_reason(kinds, session, permission, arn) for arn in permission.resources]
    if None in reasons:
        return None
    message = (
        f"User: {session.arn} is not authorized to perform: {permission.action} on resource: "
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


def role_policies(role: Role) -> list[Policy]:
    """Return a role's own policies and those that are attached to it."""
    attached = map(_document, role.managed_policies.values())
    return [json.loads(document) for document in (*role.policies.values(), *attached)]


def _policies(session: Session) -> _Kinds:
    """Return the policies that must each allow a call; a role that is gone has none."""
    iam = get_backend("iam")[session.account_id]["aws"]
    role = next((each for each in iam.get_roles() if each.arn == session.role_arn), None)
    kinds: dict[str, Sequence[Policy]] = {_IDENTITY: role_policies(role) if role else []}
    if role and role.permissions_boundary_arn:
        boundary = iam.managed_policies[role.permissions_boundary_arn]
        kinds["permissions boundary"] = [json.loads(_document(boundary))]
    if session.policy:
        kinds["session policy"] = [json.loads(session.policy)]
    return kinds


def _document(policy: ManagedPolicy) -> str:
    return next(
        version.document
        for version in policy.versions
        if version.version_id == policy.default_version_id
    )


def _bucket_policies(session: Session, arn: str) -> list[Policy]:
    """Return what the policy of the bucket of an ARN says about a role, as a policy, if any."""
    buckets = get_backend("s3")[session.account_id]["aws"].buckets
    bucket = buckets.get(arn.removeprefix("arn:aws:s3:::").partition("/")[0])
    if bucket is None or not bucket.policy:
        return []
    statements = statements_of(json.loads(bucket.policy))
    return [{"Statement": [each for each in statements if _concerns(each, session)]}]


def _concerns(statement: Policy, session: Session) -> bool:
    """Whether a statement's principal is everybody, the role or its session."""
    principal = statement.get("Principal", {})
    named = principal.get("AWS", []) if isinstance(principal, dict) else principal
    names = [named] if isinstance(named, str) else named
    return not {"*", session.role_arn, session.arn}.isdisjoint(names)


def _reason(kinds: _Kinds, session: Session, permission: Permission, arn: str) -> str | None:
    """Return why the policies do not allow an action on one resource, or None."""
    context = partial(_values, session, permission.call, arn)
    of_bucket = _bucket_policies(session, arn)
    for kind, policies in {**kinds, "resource-based policy": of_bucket}.items():
        if denies(policies, permission.action, arn, context):
            article = "an" if kind == _IDENTITY else "a"
            return f"with an explicit deny in {article} {kind}"
    for kind, policies in kinds.items():
        allowing = [*policies, *of_bucket] if kind == _IDENTITY else policies
        if not allows(allowing, permission.action, arn, context):
            return f"because no {kind} allows the {permission.action} action"
    return None


def _values(session: Session, call: ApiCall, arn: str, key: str) -> Sequence[str]:
    """Return the values of a condition key; none when the call does not have it."""
    service, _, name = key.partition(":")
    kind, _, tag = name.partition("/")
    match kind.lower():
        case "resourcetag":
            return [text for each, text in _resource_tags(call, arn).items() if each == tag]
        case "requesttag":
            return [text for each, text in call.tags().items() if each == tag]
        case "tagkeys":
            return list(call.tags())
        case "attribute" if call.service == "ec2" and call.operation.startswith("Modify"):
            attributes = _attributes(call)
            return [attributes.get(tag, "")] if tag else list(attributes)
        case "instanceid" if ":instance/" in arn:
            return [arn.rpartition("/")[2]]
        case "sourceinstancearn":
            return _source_instance(session, call)
    of_call = call.values(kind.lower().replace("-", ""))
    if of_call and service.lower() == call.service:
        return of_call
    known = {
        "principalaccount": session.account_id,
        "principalarn": session.role_arn,
        "region": call.region,
        "requestedregion": call.region,
        "resourceaccount": call.account,
        # The real endpoints answer over TLS.
        "securetransport": "true",
    }
    return [known[kind.lower()]] if kind.lower() in known else []


def _attributes(call: ApiCall) -> Mapping[str, str]:
    """Return what a call sets, by the name of its parameter: only one for most calls.

    EC2 API reference, "Granting IAM users required permissions for Amazon EC2 resources":
    ModifyImageAttribute with ec2:Attribute `Description`. Inferred: an attribute that the parameter
    Attribute names instead is called as its own parameter is.
    """
    attributes = {
        name: str(value.get("Value", ""))
        for name, value in call.params.items()
        if isinstance(value, Mapping)
    }
    if name := call.params.get("Attribute"):
        attributes[f"{name[0].upper()}{name[1:]}"] = call.params.get("Value", "")
    return attributes


def _source_instance(session: Session, call: ApiCall) -> list[str]:
    """Return the ARN of the instance whose credentials these are, if they are an instance's.

    IAM user guide, "AWS global condition context keys": ec2:SourceInstanceARN. EC2 calls the
    session of an instance's role by the instance's id.
    """
    instance = session.arn.rpartition("/")[2]
    ec2 = get_backend("ec2")[call.account][call.region]
    association = ec2.iam_instance_profile_associations.get(instance)
    roles = association.iam_instance_profile.roles if association else ()
    if session.role_arn not in [role.arn for role in roles]:
        return []
    return [f"arn:aws:ec2:{call.region}:{call.account}:instance/{instance}"]


def _resource_tags(call: ApiCall, arn: str) -> Mapping[str, str]:
    own = arn.split(":", 5)[-1]
    kind, _, name = own.partition("/")
    # moto does not list key pairs among what has tags.
    pair = get_backend("ec2")[call.account][call.region].key_pairs.get(name)
    if kind == "key-pair" and pair:
        return {tag["key"]: tag["value"] for tag in pair.get_tags()}
    for backend in iter_taggable_backends(call.account, call.region):
        if backend.owns_arn(arn):
            for resource in backend.iter_tagged_resources():
                # moto gives AMIs and snapshots an account, which their ARNs do not have.
                if resource.arn.split(":", 5)[-1] == own:
                    return resource.tags
    return {}
