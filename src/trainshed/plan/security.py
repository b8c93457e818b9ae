"""Encryption with a key of one's own, and what every IAM role carries."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.documents.problems import Path
from trainshed.plan.managed_policy import policy_problems
from trainshed.plan.notes import Notes
from trainshed.spec import AmiPipelineSpec, ClusterSpec

_PAGE = "docs/security.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityPlan:
    """What an organisation asks of every resource.

    Attributes:
        kms_key: ARN of the key that encrypts; None for keys of AWS.
        boundary: ARN of the permissions boundary of every role, or None.
        role_prefix: beginning of the name of every role, or None.
    """

    kms_key: str | None
    boundary: str | None
    role_prefix: str | None


def security_of(spec: ClusterSpec | AmiPipelineSpec) -> SecurityPlan:
    """Take the key and the rules for roles as asked."""
    return SecurityPlan(
        kms_key=spec.kms_key, boundary=spec.iam.boundary, role_prefix=spec.iam.prefix
    )


def plan_security(notes: Notes, region: str | None) -> SecurityPlan:
    """Note the key and the rules for roles, which are taken as asked."""
    spec = notes.spec
    for path, message in security_problems(spec, region):
        notes.problem(path, message)
    if spec.kms_key:
        notes.decide(
            "encryption",
            spec.kms_key,
            "as asked; its key policy must let CloudWatch Logs, EC2 Auto Scaling and AWS Batch "
            f"use it: {_PAGE}",
        )
    else:
        notes.decide("encryption", "keys of AWS", "no kms_key is given")
    if spec.iam.boundary:
        notes.decide("permissions boundary", spec.iam.boundary, "as asked")
    if spec.iam.prefix:
        notes.decide("role names", f"{spec.iam.prefix}...", "as asked")
    return security_of(spec)


def security_problems(
    spec: ClusterSpec | AmiPipelineSpec, region: str | None
) -> Iterator[tuple[Path, str]]:
    """Find what contradicts where a file's stacks are deployed: its field, and why.

    Args:
        spec: what the file asks for.
        region: AWS region, if there is one.
    """
    if spec.kms_key:
        _, partition, _, key_region, *_ = spec.kms_key.split(":")
        if partition != "aws":
            yield ("kms_key",), f"is a key of the partition {partition}; give one of aws"
        elif region and key_region != region:
            yield ("kms_key",), f"is a key of {key_region}; give one of {region}"
    if spec.iam.boundary:
        for message in policy_problems(spec.iam.boundary, spec.account):
            yield ("iam", "boundary"), message
