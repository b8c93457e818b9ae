"""Permissions boundaries must be managed policies that exist.

IAM user guide, "Permissions boundaries for IAM entities". From memory: the words of the refusal.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action


@action("iam", "CreateRole", "PutRolePermissionsBoundary")
def bound(call: Call) -> Any:
    """Create or change a role, after checking its boundary."""
    check_boundary(call)
    return call.moto()


def check_boundary(call: Call) -> None:
    """Refuse a call that names a boundary which does not exist.

    Raises:
        Refusal: NoSuchEntity.
    """
    arn = call.params.get("PermissionsBoundary")
    if arn and arn not in call.backend("iam").managed_policies:
        raise Refusal("NoSuchEntity", f"Scope ARN: {arn} does not exist or is not attachable.")
