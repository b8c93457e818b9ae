"""Whether IAM roles and instance profiles exist and serve other services.

IAM user guide: a service creates its own service-linked role when it needs it.
"""

import json

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
    return any(
        lets_in(json.loads(role.assume_role_policy_document), service)
        for role in call.backend("iam").get_roles()
        if role.arn == arn
    )


def instance_profile_exists(call: Call, name_or_arn: str) -> bool:
    """Whether IAM has the instance profile."""
    profiles = call.backend("iam").get_instance_profiles()
    return any(name_or_arn in (profile.arn, profile.name) for profile in profiles)
