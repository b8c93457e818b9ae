"""Whether services may use the cluster's key."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from trainshed.aws import accepting
from trainshed.findings import Severity, Violation, rule
from trainshed.preflight.subject import Subject, accounts

_ROLE = "aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
# Of the many that the guides name, those without which nothing works.
_OF_LOGS = ("kms:Encrypt", "kms:Decrypt", "kms:GenerateDataKey")
_OF_VOLUMES = ("kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext")


@rule(
    "TS-ACC-071",
    over=accounts,
    title="The KMS key's policy does not let services use it",
    when="kms_key names a key",
    why="""
The default policy lets the account use the key, and no service. CloudWatch Logs then refuses the
log groups; and the service-linked role of EC2 Auto Scaling, which launches the nodes, cannot
encrypt their volumes: each node ends right after its launch, and AWS Batch says little about why.
Conditions and denials of the policy are not judged.
""",
    actions=("kms:GetKeyPolicy", "kms:ListGrants"),
    sources=(
        "https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html",
        "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
    ),
    answers=("TS-SEC-005",),
    severity=Severity.ERROR,
)
def key_lets_services_in(subject: Subject) -> Iterator[Violation]:
    """The policy names CloudWatch Logs and the role that launches nodes, or that has a grant."""
    arn = subject.plan.security.kms_key
    if arn is None:
        return
    # Another rule says that there is no such key.
    with accepting("NotFoundException"):
        answer = subject.aws.call("kms", "get_key_policy", KeyId=arn, PolicyName="default")
        policy: Mapping[str, Any] = json.loads(answer["Policy"])
        logs = f"logs.{subject.plan.region}.amazonaws.com"
        if missing := _missing_actions(policy, "Service", logs, _OF_LOGS):
            yield _violation(arn, logs, missing, "no log group can be made with it")
        _, partition, _, _, account, _ = arn.split(":", 5)
        role = f"arn:{partition}:iam::{account}:role/{_ROLE}"
        missing = _missing_actions(policy, "AWS", role, _OF_VOLUMES)
        if missing and not _has_grant(subject, arn, role):
            yield _violation(arn, role, missing, "no node starts")


def _violation(arn: str, principal: str, missing: list[str], outcome: str) -> Violation:
    return Violation(
        path=("kms_key",),
        message=f"the policy of {arn} does not allow {principal} {', '.join(missing)}: {outcome}",
        remedy="add the statements of docs/security.md: aws kms put-key-policy --policy-name "
        f"default --key-id {arn} --policy file://policy.json",
    )


def _missing_actions(
    policy: Mapping[str, Any], kind: str, principal: str, needed: tuple[str, ...]
) -> list[str]:
    """Return the actions that no statement allows a principal."""
    statements = [
        each
        for each in _listed(policy["Statement"])
        if each["Effect"] == "Allow" and _names(each.get("Principal", {}), kind, principal)
    ]
    allowed = [action for each in statements for action in _listed(each.get("Action", ()))]
    return [
        action
        for action in needed
        if not any(fnmatchcase(action.lower(), each.lower()) for each in allowed)
    ]


def _names(named: Any, kind: str, principal: str) -> bool:
    if named == "*":
        return kind == "AWS"
    return not {"*", principal}.isdisjoint(_listed(named.get(kind, ())))


def _listed(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else [value]


def _has_grant(subject: Subject, arn: str, role: str) -> bool:
    grants = subject.aws.pages("kms", "list_grants", "Grants", KeyId=arn)
    return any(each.get("GranteePrincipal") == role for each in grants)
