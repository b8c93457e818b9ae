"""Whether a service may encrypt the volumes of the instances that it launches.

EC2 Auto Scaling user guide, "Required AWS KMS key policy for use with encrypted volumes": the
policy of a key of the customer, or a grant, lets the service-linked role use it; the statement for
the account alone does not, as it leaves that to policies of IAM, which such a role has none of. EC2
user guide, "Troubleshoot instance launch issues": the instance ends at once, with
Client.InvalidKMSKey.InvalidState. Conditions but kms:GrantIsForAWSResource are absent.
"""

import json
from collections.abc import Sequence
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.iam.policy_evaluation import allows
from embedded_aws.iam.service_principals import statements_of

# From memory: what an activity of the group says.
KEY_UNUSABLE = "The KMS key provided is in an incorrect state"
_ACTIONS = ("CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKeyWithoutPlaintext")


def unusable_key(call: Call, instance: Any, role: str) -> str | None:
    """Return the key of a volume of moto's instance that a role may not use, if there is one.

    Args:
        call: in whose account and region.
        instance: moto's.
        role: ARN of the role that launched it.
    """
    keys = call.backend("kms").keys
    for _, block in instance.get_block_device_mapping:
        named = str(instance.ec2_backend.get_volume(block.volume_id).kms_key_id or "")
        key = keys.get(named.rpartition("/")[2])
        if key and not _is_of_aws(key) and not _may_use(key, role):
            return str(key.arn)
    return None


def _is_of_aws(key: Any) -> bool:
    """Whether it is a service's own key in the account; moto knows these by their alias only."""
    return any(alias.startswith("alias/aws/") for alias in key.aliases)


def _may_use(key: Any, role: str) -> bool:
    if any(grant.grantee_principal == role for grant in key.grants.values()):
        return True
    named = [each for each in statements_of(json.loads(key.policy)) if _names(each, role)]
    return all(
        allows([{"Statement": named}], f"kms:{action}", key.arn, _context) for action in _ACTIONS
    )


def _names(statement: Any, role: str) -> bool:
    principal = statement.get("Principal", {})
    named = principal.get("AWS", []) if isinstance(principal, dict) else principal
    return not {"*", role}.isdisjoint([named] if isinstance(named, str) else named)


def _context(key: str) -> Sequence[str]:
    return ["true"] if key == "kms:GrantIsForAWSResource" else []
