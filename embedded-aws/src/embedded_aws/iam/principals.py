"""Who makes a call, and the policies that must each allow it.

IAM user guide, "Policy evaluation logic", "Permissions boundaries for IAM entities"; "Permissions
for GetSessionToken": its session may what the user may; "Permissions for GetFederationToken": only
what the session policy allows, too, and nothing without one; "AWS global condition context keys".
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from moto.backends import get_backend
from moto.iam.models import Group, ManagedPolicy, Role, User
from moto.sts.models import AssumedRole

from embedded_aws.iam.policy_evaluation import Policy

IDENTITY = "identity-based policy"
_BOUNDARY, _SESSION = "permissions boundary", "session policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who makes a call.

    Attributes:
        account_id: 12 digits.
        arn: of the user or the session.
        entity_arn: by which resource policies name it, too: for a session, of its role or user.
        policies: by the name of their kind in AWS's messages; a kind without any allows nothing,
            and no kinds at all, as an account's root user has them, allow everything.
        keys: values of condition keys, by their names in lower case and without `aws:`.
        user_name: of the user whose credentials these are, or a session of them; else empty.
        expires: when the credentials do; None for those that last.
    """

    account_id: str
    arn: str
    entity_arn: str
    policies: Mapping[str, Sequence[Policy]]
    keys: Mapping[str, str]
    user_name: str = ""
    expires: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryKey:
    """What STS knows of temporary credentials that are not a role's.

    Attributes:
        token: the session token.
        user_name: of the user who asked for them; empty for an account's root user.
        federated: name of the federated user; empty for GetSessionToken.
        policy: the session policy, or an empty text.
        expires: when they do.
    """

    token: str
    user_name: str
    federated: str
    policy: str
    expires: datetime


def session_of(account: str, key: str) -> AssumedRole | None:
    """Return the session of a role that has this access key, or None."""
    return get_backend("sts")[account]["aws"].get_assumed_role_from_access_key(key)


def temporary_key(account: str, key: str) -> TemporaryKey | None:
    """Return what STS knows of a key that is not a role's, or None."""
    issued = get_backend("iam")[account]["aws"].access_keys.get(key)
    found: TemporaryKey | None = getattr(issued, "embedded_aws_temporary", None)
    return found


def principal_of(account: str, key: str) -> Principal:
    """Return who has an access key, which the gateway knows."""
    if session := session_of(account, key):
        return role_session(
            account, session.role_arn, session.arn, session.policy, session.expiration
        )
    issued = get_backend("iam")[account]["aws"].access_keys.get(key)
    if temporary := temporary_key(account, key):
        return _temporary(account, temporary)
    return _user(account, issued.user_name) if issued and issued.user_name else _root(account)


def role_session(
    account: str, role_arn: str, arn: str, policy: str = "", expires: datetime | None = None
) -> Principal:
    """Return a session of a role; a role that is gone has no policies.

    Args:
        account: 12 digits.
        role_arn: of the role.
        arn: of the session.
        policy: the session policy, or an empty text.
        expires: when the session does.
    """
    iam = get_backend("iam")[account]["aws"]
    role = next((each for each in iam.get_roles() if each.arn == role_arn), None)
    policies: dict[str, Sequence[Policy]] = {IDENTITY: attached_policies(role) if role else []}
    if role and role.permissions_boundary_arn:
        policies |= _boundary(account, role.permissions_boundary_arn)
    if policy:
        policies[_SESSION] = [json.loads(policy)]
    keys = _keys(account, role_arn, "AssumedRole")
    if role:
        keys["userid"] = f"{role.id}:{arn.rpartition('/')[2]}"
    return Principal(
        account_id=account,
        arn=arn,
        entity_arn=role_arn,
        policies=policies,
        keys=keys,
        expires=expires,
    )


def attached_policies(entity: Group | Role | User) -> list[Policy]:
    """Return an entity's own policies and those that are attached to it."""
    attached = map(_document, entity.managed_policies.values())
    return [json.loads(document) for document in (*entity.policies.values(), *attached)]


def _user(account: str, name: str) -> Principal:
    """Return a user; one that is gone has no policies."""
    iam = get_backend("iam")[account]["aws"]
    user = iam.users.get(name)
    arn = user.arn if user else f"arn:aws:iam::{account}:user/{name}"
    keys = {**_keys(account, arn, "User"), "username": name}
    policies: dict[str, Sequence[Policy]] = {IDENTITY: []}
    if user:
        keys["userid"] = user.id
        policies[IDENTITY] = [
            *attached_policies(user),
            *(each for group in iam.get_groups_for_user(name) for each in attached_policies(group)),
        ]
        if boundary := getattr(user, "permissions_boundary", None):
            policies |= _boundary(account, boundary["PermissionsBoundaryArn"])
    return Principal(
        account_id=account,
        arn=arn,
        entity_arn=arn,
        policies=policies,
        keys=keys,
        user_name=name,
    )


def _root(account: str) -> Principal:
    arn = f"arn:aws:iam::{account}:root"
    keys = {**_keys(account, arn, "Account"), "userid": account}
    return Principal(account_id=account, arn=arn, entity_arn=arn, policies={}, keys=keys)


def _temporary(account: str, key: TemporaryKey) -> Principal:
    asked = _user(account, key.user_name) if key.user_name else _root(account)
    if not key.federated:
        return replace(asked, expires=key.expires)
    arn = f"arn:aws:sts::{account}:federated-user/{key.federated}"
    session = [json.loads(key.policy)] if key.policy else []
    return replace(
        asked,
        arn=arn,
        policies={**asked.policies, _SESSION: session},
        keys={
            **_keys(account, arn, "FederatedUser"),
            "userid": f"{account}:{key.federated}",
        },
        expires=key.expires,
    )


def _keys(account: str, arn: str, kind: str) -> dict[str, str]:
    return {"principalaccount": account, "principalarn": arn, "principaltype": kind}


def _boundary(account: str, arn: str) -> Mapping[str, Sequence[Policy]]:
    boundary = get_backend("iam")[account]["aws"].managed_policies.get(arn)
    return {_BOUNDARY: [json.loads(_document(boundary))] if boundary else []}


def _document(policy: ManagedPolicy) -> str:
    return next(
        version.document
        for version in policy.versions
        if version.version_id == policy.default_version_id
    )
