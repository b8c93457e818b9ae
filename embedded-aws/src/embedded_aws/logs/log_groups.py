"""Log groups: the retention periods of CloudWatch Logs, and keys that it may use.

API reference, PutRetentionPolicy. CloudWatch Logs user guide, "Encrypt log data in CloudWatch Logs
using AWS Key Management Service": the key's policy has to let the service of the region use it; the
refusal's words are those in terraform-provider-aws issue 29282. Conditions of the policy are not
evaluated.
"""

import json
from typing import Any

from embedded_aws.actions import Call, Refusal, action, existing
from embedded_aws.iam.service_principals import lets_in

_DAYS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827),
    *(2192, 2557, 2922, 3288, 3653),
)


@action("logs", "PutRetentionPolicy")
def put_retention_policy(call: Call) -> Any:
    """Set a log group's retention to one of the valid periods."""
    days = call.params["retentionInDays"]
    if days not in _DAYS:
        raise Refusal(
            "InvalidParameterException",
            f"retentionInDays {days} must be one of {', '.join(map(str, _DAYS))}.",
        )
    return call.moto()


@action("logs", "CreateLogGroup")
def create_log_group(call: Call) -> Any:
    """Create a log group, after checking that CloudWatch Logs may use its key."""
    if "kmsKeyId" in call.params:
        _check_key(call)
    return call.moto()


@action("logs", "AssociateKmsKey")
def associate_kms_key(call: Call) -> dict[str, Any]:
    """Encrypt new events of a log group with a key."""
    group = _group(call)
    _check_key(call)
    group.kms_key_id = call.params["kmsKeyId"]
    return {}


@action("logs", "DisassociateKmsKey")
def disassociate_kms_key(call: Call) -> dict[str, Any]:
    """Encrypt new events of a log group with the service's own key."""
    _group(call).kms_key_id = None
    return {}


def _group(call: Call) -> Any:
    group = call.backend("logs").groups.get(call.params["logGroupName"])
    message = "The specified log group does not exist."
    return existing(group, "ResourceNotFoundException", message)


def _check_key(call: Call) -> None:
    arn = call.params["kmsKeyId"]
    keys = {key.arn: key for key in call.backend("kms").keys.values()}
    service = f"logs.{call.region}.amazonaws.com"
    if arn not in keys or not lets_in(json.loads(keys[arn].policy), service):
        group = call.arn("logs", f"log-group:{call.params['logGroupName']}")
        raise Refusal(
            "AccessDeniedException",
            f"The specified KMS key does not exist or is not allowed to be used with Arn '{group}'",
        )
