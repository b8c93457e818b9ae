"""S3 bucket policies: statements about unencrypted transport do not apply here.

moto treats a statement whose condition is not met as a denial, so that the usual one, which
denies everything while `aws:SecureTransport` is false, makes a bucket inaccessible. On AWS a
statement whose condition is not met does not apply [S: IAM user guide, policy evaluation logic].
The embedded AWS uses plain HTTP on loopback: every request counts as encrypted.
"""

import json
from collections.abc import Mapping
from typing import Any

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket

from embedded_aws.actions import correction
from embedded_aws.iam.service_principals import statements_of


@correction
def evaluate_bucket_policies() -> None:
    """Have buckets evaluate only the statements that apply to a request."""
    FakeBucket.get_permission = _get_permission  # type: ignore[assignment,method-assign]


def _get_permission(bucket: FakeBucket, action: str, resource: str) -> PermissionResult:
    if bucket.policy is None:
        return PermissionResult.NEUTRAL
    policy = json.loads(bucket.policy)
    applying = [each for each in statements_of(policy) if not _is_about_plain_text(each)]
    if not applying:
        return PermissionResult.NEUTRAL
    judged = IAMPolicy(json.dumps(policy | {"Statement": applying}))
    return judged.is_action_permitted(action, resource)


def _is_about_plain_text(statement: Mapping[str, Any]) -> bool:
    asked = statement.get("Condition", {}).get("Bool", {}).get("aws:SecureTransport")
    return str(asked).lower() == "false"
