"""Encryption with a key of one's own, and what every IAM role carries."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.documents.problems import Path
from trainshed.plan.managed_policy import policy_problems
from trainshed.plan.notes import Notes
from trainshed.spec import DeploymentType, IamSpec

_PAGE = "docs/security.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityPlan:
    """What an organisation asks of every resource of a cluster.

    Attributes:
        kms_key_arn: KMS key that encrypts what is stored; None for keys of AWS.
        permissions_boundary_arn: managed policy that bounds every role, or None.
        role_prefix: what the names of roles and instance profiles begin with; None to let
            CloudFormation name them.
    """

    kms_key_arn: str | None
    permissions_boundary_arn: str | None
    role_prefix: str | None


def plan_security(notes: Notes, region: str | None) -> SecurityPlan:
    """Take the key and the rules for roles as asked."""
    spec = notes.spec
    for path, message in security_problems(spec.kms_key, spec.iam, spec.account, region):
        notes.problem(path, message)
    _warn_of_scratch(notes)
    plan = security(spec.kms_key, spec.iam)
    if plan.kms_key_arn:
        notes.decide(
            "encryption",
            plan.kms_key_arn,
            "as asked; its key policy must let CloudWatch Logs, EC2 Auto Scaling and AWS Batch "
            f"use it: {_PAGE}",
        )
    else:
        notes.decide("encryption", "keys of AWS", "no kms_key is given")
    if plan.permissions_boundary_arn:
        notes.decide("permissions boundary", plan.permissions_boundary_arn, "as asked")
    if plan.role_prefix:
        notes.decide("role names", f"{plan.role_prefix}...", "as asked")
    return plan


def security(kms_key: str | None, iam: IamSpec) -> SecurityPlan:
    """Return the plan of a file's two fields."""
    return SecurityPlan(
        kms_key_arn=kms_key,
        permissions_boundary_arn=iam.boundary,
        role_prefix=iam.prefix,
    )


def security_problems(
    kms_key: str | None, iam: IamSpec, account: str | None, region: str | None
) -> Iterator[tuple[Path, str]]:
    """Find what contradicts where a file's stacks are deployed: its field, and why.

    Args:
        kms_key: the file's.
        iam: the file's.
        account: AWS account, if the file names one.
        region: AWS region, if there is one.
    """
    if kms_key:
        _, partition, _, key_region, *_ = kms_key.split(":")
        if partition != "aws":
            yield ("kms_key",), f"is a key of the partition {partition}; give one of aws"
        elif region and key_region != region:
            yield ("kms_key",), f"is a key of {key_region}; give one of {region}"
    if iam.boundary:
        for message in policy_problems(iam.boundary, account):
            yield ("iam", "boundary"), message


def _warn_of_scratch(notes: Notes) -> None:
    lustre = notes.spec.storage.lustre
    # FSx for Lustre guide, "Encrypting data at rest"; the API refuses a key for these.
    if notes.spec.kms_key and lustre and lustre.deployment is DeploymentType.SCRATCH_2:
        notes.warn(
            "TS-SEC-001",
            "a scratch-2 file system is encrypted with FSx's own key: kms_key does not apply to it",
            "use deployment: persistent-2 if your rules require your own key",
        )
