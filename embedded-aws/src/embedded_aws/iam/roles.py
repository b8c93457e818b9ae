"""Whether IAM roles and instance profiles exist and serve other services.

IAM user guide: a service creates its own service-linked role when it needs it.
"""

import json
from collections.abc import Mapping
from typing import Any

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.iam.service_principals import lets_in


def role_exists(call: Call, name_or_arn: str) -> bool:
    """Whether IAM has the role; service-linked roles always exist, as services create them."""
    roles = call.backend("iam").get_roles()
    return "/aws-service-role/" in name_or_arn or any(
        name_or_arn in (role.arn, role.name) for role in roles
    )


def can_assume(call: Call, service: str, arn: str) -> bool:
    """Whether IAM has the role, and its trust policy lets a service in.

    Args:
        call: of the role's account.
        service: for instance `ecs-tasks.amazonaws.com`.
        arn: of the role.
    """
    return lets_in(trust_policy(call.account, arn), service)


def trust_policy(account: str, arn: str) -> Mapping[str, Any]:
    """Return the trust policy of a role of an account; an empty one if there is no such role."""
    for role in get_backend("iam")[account]["aws"].get_roles():
        if role.arn == arn:
            found: Mapping[str, Any] = json.loads(role.assume_role_policy_document)
            return found
    return {}


def instance_profile_exists(call: Call, name_or_arn: str) -> bool:
    """Whether IAM has the instance profile."""
    profiles = call.backend("iam").get_instance_profiles()
    return any(name_or_arn in (profile.arn, profile.name) for profile in profiles)
