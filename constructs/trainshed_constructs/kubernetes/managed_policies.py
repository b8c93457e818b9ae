"""Policies of AWS that roles of EKS have."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_iam as iam


def managed_policies(role: iam.Role, reasons: Mapping[str, str]) -> None:
    """Give a role policies of AWS.

    Args:
        role: the role.
        reasons: why it has each, by the policy's name.
    """
    for name, reason in reasons.items():
        policy = iam.ManagedPolicy.from_aws_managed_policy_name(name)
        role.add_managed_policy(policy)
        found = f"arn:<AWS::Partition>:iam::aws:policy/{name}"
        Validations.of(role).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM4[Policy::{found}]", reason=reason)
        )
