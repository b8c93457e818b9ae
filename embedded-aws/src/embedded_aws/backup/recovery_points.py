"""Recovery points of EFS file systems that have automatic backups.

EFS user guide, "Backing up EFS file systems": one a day, kept for 35 days, also after the file
system was deleted. AWS Backup API reference, RecoveryPointByBackupVault; developer guide, "Copying
tags": the tags of the file system, as they are then. Inferred: that they are taken at 05:00 UTC,
and the words of refusals. Nothing is copied, and nothing can be restored.

Nothing runs each day: what would have been taken is there when it is asked for, when backups are
turned on or off, and when a file system is deleted.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from embedded_aws.actions import Call, Row, action, existing, table
from embedded_aws.backup.automatic_vault import VAULT, check_deletion, find_vault, need_vault
from embedded_aws.clock import now

_DAILY, _KEPT = time(5, tzinfo=UTC), timedelta(days=35)
_EMPTY_BYTES = 6144
_points = table("backup", "recovery_points")


def take_due(call: Call) -> None:
    """Take the recovery points of the days that have passed since this was called last."""
    end, taken = now(), call.state("backup", "taken_until", dict[str, datetime])
    efs = call.backend("efs")
    for name, each in efs.file_systems_by_id.items():
        begin = max(taken.get(name, each.row["CreationTime"]), end - _KEPT)
        taken[name] = end
        if each.backup == "ENABLED":
            need_vault(call)
            tags = efs.list_tags_for_resource(name)
            for moment in _moments(begin, end):
                row = _row(call, each.file_system_arn, moment, tags)
                _points(call)[row["RecoveryPointArn"]] = row
    for arn, row in list(_points(call).items()):
        if row["CalculatedLifecycle"]["DeleteAt"] <= end:
            del _points(call)[arn]


def _moments(begin: datetime, end: datetime) -> list[datetime]:
    """Return when recovery points are taken after a time, up to another one."""
    days = (begin.date() + timedelta(days=day) for day in range((end - begin).days + 2))
    moments = (datetime.combine(day, _DAILY) for day in days)
    return [each for each in moments if begin < each <= end]


def _row(call: Call, file_system: str, moment: datetime, tags: Sequence[Mapping[str, str]]) -> Row:
    own = {each["Key"]: each["Value"] for each in tags}
    arn = call.arn("backup", f"recovery-point:{uuid5(NAMESPACE_URL, f'{file_system} {moment:%F}')}")
    return {
        "RecoveryPointArn": arn,
        "BackupVaultName": VAULT,
        "BackupVaultArn": call.arn("backup", f"backup-vault:{VAULT}"),
        "ResourceArn": file_system,
        "ResourceType": "EFS",
        **({"ResourceName": own["Name"]} if "Name" in own else {}),
        "Status": "COMPLETED",
        "CreationDate": moment,
        "CompletionDate": moment,
        "BackupSizeInBytes": _EMPTY_BYTES,
        "Lifecycle": {"DeleteAfterDays": _KEPT.days},
        "CalculatedLifecycle": {"DeleteAt": moment + _KEPT},
        "IsEncrypted": True,
        "tags": own,
    }


@action("backup", "ListBackupVaults")
def list_backup_vaults(call: Call) -> Any:
    """List the vaults, that of EFS among them once automatic backups have been on."""
    take_due(call)
    return call.moto()


@action("backup", "ListRecoveryPointsByBackupVault")
def list_recovery_points_by_backup_vault(call: Call) -> dict[str, Any]:
    """List the recovery points of a vault, of a resource or type if one is asked for."""
    take_due(call)
    vault = find_vault(call).backup_vault_name
    wanted = {"ResourceArn": "ByResourceArn", "ResourceType": "ByResourceType"}
    rows = [
        {key: value for key, value in row.items() if key != "tags"}
        for row in _points(call).values()
        if row["BackupVaultName"] == vault
        and all(row[key] == call.params.get(name, row[key]) for key, name in wanted.items())
    ]
    first = int(call.params.get("NextToken", 0))
    last = first + int(call.params.get("MaxResults", len(rows) or 1))
    token = {"NextToken": str(last)} if last < len(rows) else {}
    return {"RecoveryPoints": rows[first:last], **token}


@action("backup", "DeleteRecoveryPoint")
def delete_recovery_point(call: Call) -> dict[str, Any]:
    """Delete a recovery point, if the policy of its vault lets that."""
    take_due(call)
    arn, vault = call.params["RecoveryPointArn"], find_vault(call).backup_vault_name
    row = _points(call).get(arn)
    existing(
        row if row and row["BackupVaultName"] == vault else None,
        "ResourceNotFoundException",
        f"Recovery point {arn} does not exist.",
    )
    check_deletion(call, arn)
    del _points(call)[arn]
    return {}


@action("backup", "ListTags")
def list_tags(call: Call) -> Any:
    """Return the tags of a recovery point; those of vaults and plans are moto's."""
    row = _points(call).get(call.params["ResourceArn"])
    return {"Tags": row["tags"]} if row else call.moto()
