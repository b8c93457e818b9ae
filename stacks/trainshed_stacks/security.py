"""What an organisation asks of every resource of a stack."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from trainshed.plan.security import SecurityPlan
from trainshed_constructs import encrypt_with_key, prefix_role_names


def secure(stack: cdk.Stack, plan: SecurityPlan) -> None:
    """Encrypt a stack's log groups and functions, and bound and name its roles.

    What else is encrypted takes the key from its own construct.
    """
    if plan.kms_key:
        encrypt_with_key(stack, kms_key_arn=plan.kms_key)
    if plan.boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_arn(
            stack, "PermissionsBoundary", plan.boundary
        )
        iam.PermissionsBoundary.of(stack).apply(boundary)
    if plan.role_prefix:
        prefix_role_names(stack, prefix=plan.role_prefix)
