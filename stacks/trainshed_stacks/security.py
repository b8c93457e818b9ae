"""What an organisation asks of every resource of a stack."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from trainshed.spec import AmiPipelineSpec, ClusterSpec
from trainshed_constructs import encrypt_with_key, prefix_role_names


def secure(stack: cdk.Stack, spec: ClusterSpec | AmiPipelineSpec) -> None:
    """Encrypt a stack's log groups and functions, and bound and name its roles.

    What else is encrypted takes the key from its own construct.
    """
    if spec.kms_key:
        encrypt_with_key(stack, kms_key_arn=spec.kms_key)
    if spec.iam.boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_arn(
            stack, "PermissionsBoundary", spec.iam.boundary
        )
        iam.PermissionsBoundary.of(stack).apply(boundary)
    if spec.iam.prefix:
        prefix_role_names(stack, prefix=spec.iam.prefix)
