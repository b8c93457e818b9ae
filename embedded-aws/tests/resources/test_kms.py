"""Keys and aliases through their handlers."""

import json
from typing import Any

POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::210987654321:root"},
            "Action": "kms:*",
            "Resource": "*",
        }
    ],
}


def test_a_key_turns_as_the_template_says(client: Any, deploy: Any) -> None:
    kms = client("kms")
    key = deploy("AWS::KMS::Key", KeyPolicy=POLICY, EnableKeyRotation=True)
    turning = kms.get_key_rotation_status(KeyId=key.ref)["KeyRotationEnabled"]

    key.update("EnableKeyRotation", Description="data", Enabled=False)

    policy = kms.get_key_policy(KeyId=key.ref, PolicyName="default")["Policy"]
    metadata = kms.describe_key(KeyId=key.ref)["KeyMetadata"]
    assert json.loads(policy) == POLICY
    assert (metadata["Description"], metadata["KeyState"]) == ("data", "Disabled")
    assert turning is True
    assert kms.get_key_rotation_status(KeyId=key.ref)["KeyRotationEnabled"] is False


def test_a_deleted_key_waits_as_long_as_it_should(client: Any, deploy: Any) -> None:
    key = deploy("AWS::KMS::Key", PendingWindowInDays=7)

    key.delete()
    key.delete()

    metadata = client("kms").describe_key(KeyId=key.ref)["KeyMetadata"]
    assert metadata["KeyState"] == "PendingDeletion"


def test_an_alias_moves_to_another_key(client: Any, deploy: Any) -> None:
    kms = client("kms")
    first, second = deploy("AWS::KMS::Key"), deploy("AWS::KMS::Key")
    alias = deploy("AWS::KMS::Alias", AliasName="alias/moves", TargetKeyId=first.ref)

    alias.update(TargetKeyId=second.ref)

    assert kms.describe_key(KeyId="alias/moves")["KeyMetadata"]["KeyId"] == second.ref
    alias.delete()
    alias.delete()
    assert "alias/moves" not in [each["AliasName"] for each in kms.list_aliases()["Aliases"]]
