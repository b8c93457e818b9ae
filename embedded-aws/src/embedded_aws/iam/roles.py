"""Whether IAM roles and instance profiles exist, for other services.

[S] IAM user guide: a service creates its own service-linked role when it needs it.
"""

from embedded_aws.actions import Call


def role_exists(call: Call, name_or_arn: str) -> bool:
    """Whether IAM has the role; service-linked roles always exist, as services create them."""
    roles = call.backend("iam").get_roles()
    return "/aws-service-role/" in name_or_arn or any(
        name_or_arn in (role.arn, role.name) for role in roles
    )


def instance_profile_exists(call: Call, name_or_arn: str) -> bool:
    """Whether IAM has the instance profile."""
    profiles = call.backend("iam").get_instance_profiles()
    return any(name_or_arn in (profile.arn, profile.name) for profile in profiles)
