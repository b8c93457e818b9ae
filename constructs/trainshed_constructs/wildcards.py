"""Resources with a wildcard in the policies of roles, and why they have it."""

from collections.abc import Mapping
from functools import cache

from aws_cdk import Acknowledgment, Aws, Validations
from aws_cdk import aws_iam as iam


def own_arn(service: str, resource: str) -> str:
    """Return an ARN of the stack's own region and account.

    With pseudo parameters, so that what cdk-nag finds reads the same everywhere.
    """
    partition, region, account = _pseudo_parameters()
    return f"arn:{partition}:{service}:{region}:{account}:{resource}"


def acknowledge_wildcards(holder: iam.Role | iam.Policy, reasons: Mapping[str, str]) -> None:
    """Acknowledge cdk-nag's findings about resources with a wildcard in policies.

    Args:
        holder: the role with its policies, or a policy alone.
        reasons: why each has one, by resource as its statement names it.
    """
    if reasons:
        Validations.of(holder).acknowledge(
            *(
                Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{_found(name)}]", reason=reason)
                for name, reason in reasons.items()
            )
        )


def _found(resource: str) -> str:
    """Write a resource as cdk-nag does."""
    names = ("<AWS::Partition>", "<AWS::Region>", "<AWS::AccountId>")
    for token, name in zip(_pseudo_parameters(), names, strict=True):
        resource = resource.replace(token, name)
    return resource


@cache
def _pseudo_parameters() -> tuple[str, str, str]:
    """Ask CDK once, because every question takes time."""
    return Aws.PARTITION, Aws.REGION, Aws.ACCOUNT_ID
