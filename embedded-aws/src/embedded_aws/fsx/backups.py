"""Backups of file systems: automatic ones, those of users, and the last one of a deletion.

FSx API reference: automatic backups are taken daily, kept for as many days as the file system says,
and go with it; others stay. A Lustre file system is backed up if it is persistent and not linked to
a data repository. Nothing is copied, and nothing can be restored. Inferred: the exact words.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action
from embedded_aws.clock import now
from embedded_aws.fsx.lustre import bad_request, deployment_type
from embedded_aws.fsx.stored_file_system import StoredFileSystem, find
from embedded_aws.fsx.tables import associations

_FILTERS = {
    "backup-type": lambda row: row.get("Type"),
    "file-system-id": lambda row: row["FileSystem"]["FileSystemId"],
    "file-system-type": lambda row: row["FileSystem"]["FileSystemType"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that a user or a deletion made, stored in moto's own list for its tags.

    Attributes:
        backup_id: `backup-...`.
        resource_arn: its ARN.
        row: what DescribeBackups returns, without the tags.
    """

    backup_id: str
    resource_arn: str
    row: Row


def back_up(call: Call, file_system: StoredFileSystem, tags: Sequence[Row]) -> Row:
    """Back a file system up at the wish of a user.

    Raises:
        Refusal: BadRequest.
    """
    if file_system.file_system_type == "LUSTRE":
        _check_lustre(call, file_system)
    backup_id = f"backup-{mock_random.get_random_hex(17)}"
    backend = call.backend("fsx")
    row = _row(call, file_system, backup_id, now(), "USER_INITIATED")
    made = Backup(backup_id=backup_id, resource_arn=row["ResourceARN"], row=row)
    backend.backups[backup_id] = made
    kept = tags or _copied(call, file_system)
    backend.tag_resource(made.resource_arn, {tag["Key"]: tag["Value"] for tag in kept})
    return {**row, "Tags": list(kept)}


def _check_lustre(call: Call, file_system: StoredFileSystem) -> None:
    if deployment_type(file_system.params).startswith("SCRATCH"):
        raise bad_request("Backups are not supported on scratch file systems.")
    owners = [each["FileSystemId"] for each in associations(call).values()]
    if file_system.file_system_id in owners or file_system.given("ImportPath"):
        raise bad_request("Backups are not supported on file systems linked to a data repository.")


def _copied(call: Call, file_system: StoredFileSystem) -> list[Row]:
    if not file_system.given("CopyTagsToBackups"):
        return []
    tags: list[Row] = call.backend("fsx").list_tags_for_resource(file_system.resource_arn)
    return tags


def _row(call: Call, file_system: StoredFileSystem, backup_id: str, at: datetime, kind: str) -> Row:
    return {
        "BackupId": backup_id,
        "CreationTime": at.timestamp(),
        "FileSystem": file_system.to_dict(),
        "Lifecycle": "AVAILABLE",
        "OwnerId": call.account,
        "ProgressPercent": 100,
        "ResourceARN": call.arn("fsx", f"backup/{backup_id}"),
        "ResourceType": "FILE_SYSTEM",
        "Type": kind,
    }


def _automatic(call: Call) -> Iterator[Row]:
    """Yield the automatic backups that exist by now."""
    deleted = call.state("fsx", "deleted_backups", set[str])
    for found in call.backend("fsx").file_systems.values():
        if not isinstance(found, StoredFileSystem):
            continue
        tags = _copied(call, found)
        for moment in _taken(found):
            digest = hashlib.sha256(f"{found.file_system_id} {moment:%F}".encode()).hexdigest()
            backup_id = f"backup-{digest[:17]}"
            if backup_id not in deleted:
                yield {**_row(call, found, backup_id, moment, "AUTOMATIC"), "Tags": tags}


def _taken(file_system: StoredFileSystem) -> Iterator[datetime]:
    """Yield when the automatic backups were taken that are still kept."""
    kept = timedelta(
        days=file_system.given("AutomaticBackupRetentionDays", file_system.keeps_backups_days)
    )
    start = file_system.given("DailyAutomaticBackupStartTime", "05:00").replace(":", "")
    daily = time(int(start[:2]), int(start[2:]), tzinfo=UTC)
    end = now()
    begin = max(file_system.created, end - kept)
    for day in range((end.date() - begin.date()).days + 1):
        moment = datetime.combine(begin.date() + timedelta(days=day), daily)
        if begin < moment <= end:
            yield moment


def _all(call: Call) -> list[Row]:
    backend = call.backend("fsx")
    made = [
        {**each.row, "Tags": backend.list_tags_for_resource(each.resource_arn)}
        for each in backend.backups.values()
    ]
    return [*made, *_automatic(call)]


@action("fsx", "CreateBackup")
def create_backup(call: Call) -> dict[str, Any]:
    """Back a file system up; the same ClientRequestToken returns the same backup."""
    if "FileSystemId" not in call.params:
        raise bad_request("the embedded AWS backs file systems up, not volumes.")
    tokens = call.state("fsx", "backup_tokens", dict[str, tuple[Any, Row]])
    params, row = tokens.get(call.params.get("ClientRequestToken", ""), (None, {}))
    if params not in (None, call.params):
        raise Refusal(
            "IncompatibleParameterError",
            "The client request token was used before with different parameters.",
        )
    if params is None:
        found = find(call, call.params["FileSystemId"])
        if not isinstance(found, StoredFileSystem):
            raise bad_request("the embedded AWS backs Lustre and OpenZFS file systems up only.")
        row = back_up(call, found, call.params.get("Tags", []))
        if token := call.params.get("ClientRequestToken"):
            tokens[token] = call.params, row
    return {"Backup": {**row, "Lifecycle": "CREATING", "ProgressPercent": 0}}


@action("fsx", "DescribeBackups")
def describe_backups(call: Call) -> dict[str, Any]:
    """Describe backups by id, or those that filters let through."""
    rows = _all(call)
    if ids := call.params.get("BackupIds"):
        by_id = {row["BackupId"]: row for row in rows}
        return {"Backups": [_existing(by_id, each) for each in ids]}
    for wanted in call.params.get("Filters", []):
        read = _FILTERS.get(wanted["Name"])
        if read is None:
            raise bad_request(f"The filter '{wanted['Name']}' is not supported.")
        rows = [row for row in rows if read(row) in wanted["Values"]]
    return {"Backups": rows}


def _existing(by_id: dict[str, Row], backup_id: str) -> Row:
    if backup_id not in by_id:
        raise Refusal("BackupNotFound", f"Backup '{backup_id}' does not exist.")
    return by_id[backup_id]


@action("fsx", "DeleteBackup")
def delete_backup(call: Call) -> dict[str, Any]:
    """Delete a backup."""
    backup_id = call.params["BackupId"]
    _existing({row["BackupId"]: row for row in _all(call)}, backup_id)
    call.state("fsx", "deleted_backups", set[str]).add(backup_id)
    call.backend("fsx").backups.pop(backup_id, None)
    return {"BackupId": backup_id, "Lifecycle": "DELETED"}
