"""What an organisation asks of every resource of a stack."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from trainshed.plan import SecurityPlan
from trainshed_constructs import encrypt_with_key, prefix_role_names


def secure(stack: cdk.Stack, security: SecurityPlan) -> None:
    """Encrypt a stack's log groups and functions, and bound and name its roles.

    What else is encrypted takes the key from its own construct.
    """
    if security.kms_key_arn:
        encrypt_with_key(stack, kms_key_arn=security.kms_key_arn)
    if security.permissions_boundary_arn:
        boundary = iam.ManagedPolicy.from_managed_policy_arn(
            stack, "PermissionsBoundary", security.permissions_boundary_arn
        )
        iam.PermissionsBoundary.of(stack).apply(boundary)
    if security.role_prefix:
        prefix_role_names(stack, prefix=security.role_prefix)
