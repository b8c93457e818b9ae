"""The vault of EFS's automatic backups, and the policy that lets nobody delete what is in it.

EFS user guide, "Automatic backups": the vault's name. It is there once automatic backups have been
on, and its policy is as gist.github.com/nelsonjchen/684d1405e7cbf68c5eae4c860bd6c5b5 shows it. Who
may not delete is told what github.com/rebuy-de/aws-nuke/pull/1150 shows.
"""

import json
from typing import Any

from moto.backup.responses import BackupResponse
from moto.backup.urls import url_paths

from embedded_aws.actions import Call, Refusal, action, correction, existing
from embedded_aws.iam.policy_evaluation import denies

VAULT = "aws/efs/automatic-backup-vault"
_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": [
                "backup:DeleteBackupVault",
                "backup:DeleteBackupVaultAccessPolicy",
                "backup:DeleteRecoveryPoint",
                "backup:StartCopyJob",
                "backup:StartRestoreJob",
                "backup:UpdateRecoveryPointLifecycle",
            ],
            "Resource": "*",
        }
    ],
}


@correction
def route_vaults() -> None:
    """Lead what is in vaults to moto's class, which has no URLs for it."""
    url_paths["{0}/backup-vaults/(?P<path>.+)$"] = BackupResponse.dispatch


def need_vault(call: Call) -> None:
    """Make the vault, unless it is there."""
    backend = call.backend("backup")
    if VAULT not in backend.vaults:
        vault = backend.create_backup_vault(VAULT, {}, "", VAULT)
        vars(vault)["embedded_aws_policy"] = json.dumps(_POLICY)


def find_vault(call: Call) -> Any:
    """Return moto's vault that a call names.

    Raises:
        Refusal: there is none.
    """
    name = call.params["BackupVaultName"]
    found = call.backend("backup").vaults.get(name)
    return existing(found, "ResourceNotFoundException", f"Backup vault {name} does not exist.")


def check_deletion(call: Call, recovery_point_arn: str) -> None:
    """Refuse the deletion of a recovery point that the vault's policy denies.

    Raises:
        Refusal: AccessDeniedException.
    """
    action_name = f"backup:{call.operation}"
    policy = vars(find_vault(call)).get("embedded_aws_policy", "{}")
    if denies([json.loads(policy)], action_name, recovery_point_arn, lambda key: []):
        raise Refusal(
            "AccessDeniedException",
            f"User: arn:aws:iam::{call.account}:root is not authorized to perform: {action_name} "
            f"on resource: {recovery_point_arn} with an explicit deny in a resource-based policy",
        )


@action("backup", "PutBackupVaultAccessPolicy")
def put_backup_vault_access_policy(call: Call) -> dict[str, Any]:
    """Set the policy of a vault."""
    text = call.params.get("Policy", "{}")
    try:
        policy = json.loads(text)
    except ValueError:
        policy = None
    if not isinstance(policy, dict):
        raise Refusal("InvalidParameterValueException", "Policy is not a JSON object.")
    vars(find_vault(call))["embedded_aws_policy"] = text
    return {}


@action("backup", "GetBackupVaultAccessPolicy")
def get_backup_vault_access_policy(call: Call) -> dict[str, Any]:
    """Return the policy of a vault."""
    found = find_vault(call)
    return {
        "BackupVaultName": found.backup_vault_name,
        "BackupVaultArn": found.backup_vault_arn,
        "Policy": vars(found).get("embedded_aws_policy", "{}"),
    }
