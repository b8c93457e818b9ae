"""Automatic backups of EFS file systems, in AWS Backup."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

VAULT = "aws/efs/automatic-backup-vault"


class Place:
    """EFS and AWS Backup of an empty account."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws, self.efs, self.backup = aws, aws.client("efs"), aws.client("backup")

    def create(self, *, backup: bool = True) -> str:
        made: str = self.efs.create_file_system(
            Backup=backup, Tags=[{"Key": "Name", "Value": "home"}, {"Key": "team", "Value": "ml"}]
        )["FileSystemId"]
        return made

    def points(self, **asked: Any) -> list[dict[str, Any]]:
        pages = self.backup.get_paginator("list_recovery_points_by_backup_vault")
        found = pages.paginate(BackupVaultName=VAULT, **asked)
        return [point for page in found for point in page["RecoveryPoints"]]


@pytest.fixture
def place(clean_aws: EmbeddedAws) -> Place:
    return Place(clean_aws)


def test_a_day_adds_a_recovery_point_with_the_tags_of_the_file_system(place: Place) -> None:
    name = place.create()
    place.create(backup=False)
    [vault] = place.backup.list_backup_vaults()["BackupVaultList"]
    assert (vault["BackupVaultName"], place.points()) == (VAULT, [])

    place.aws.let_pass(days=2)

    first, second = place.points(ByResourceType="EFS")
    assert first["ResourceArn"].endswith(f":file-system/{name}")
    assert (first["ResourceName"], first["Status"]) == ("home", "COMPLETED")
    assert (second["CreationDate"] - first["CreationDate"]).days == 1
    assert first["CreationDate"].hour == 5
    assert (first["CalculatedLifecycle"]["DeleteAt"] - first["CreationDate"]).days == 35
    tags = place.backup.list_tags(ResourceArn=first["RecoveryPointArn"])["Tags"]
    assert tags == {"Name": "home", "team": "ml"}
    assert place.points(ByResourceArn="arn:aws:elasticfilesystem:::other") == []
    assert len(place.points(PaginationConfig={"PageSize": 1})) == 2


def test_recovery_points_outlive_their_file_system_by_five_weeks(place: Place) -> None:
    name = place.create()
    place.aws.let_pass(days=3)
    place.efs.delete_file_system(FileSystemId=name)

    place.aws.let_pass(days=30)
    kept = len(place.points())
    place.aws.let_pass(days=6)

    assert (kept, place.points()) == (3, [])


def test_none_are_taken_while_backups_are_off(place: Place) -> None:
    name = place.create()
    place.aws.let_pass(days=1)
    place.efs.put_backup_policy(FileSystemId=name, BackupPolicy={"Status": "DISABLED"})
    place.aws.let_pass(days=5)
    place.efs.put_backup_policy(FileSystemId=name, BackupPolicy={"Status": "ENABLED"})
    place.aws.let_pass(days=2)

    assert len(place.points()) == 3


def test_there_is_no_vault_where_backups_were_never_on(place: Place) -> None:
    place.create(backup=False)
    assert place.backup.list_backup_vaults()["BackupVaultList"] == []

    with pytest.raises(ClientError, match=r"ResourceNotFoundException.*does not exist"):
        place.points()


def test_a_recovery_point_goes_only_when_the_policy_of_the_vault_lets_it(place: Place) -> None:
    place.create()
    place.aws.let_pass(days=1)
    [point] = place.points()
    named = {"BackupVaultName": VAULT, "RecoveryPointArn": point["RecoveryPointArn"]}
    policy = json.loads(
        place.backup.get_backup_vault_access_policy(BackupVaultName=VAULT)["Policy"]
    )
    with pytest.raises(ClientError, match="explicit deny in a resource-based policy"):
        place.backup.delete_recovery_point(**named)
    policy["Statement"][0]["Action"].remove("backup:DeleteRecoveryPoint")

    place.backup.put_backup_vault_access_policy(BackupVaultName=VAULT, Policy=json.dumps(policy))
    place.backup.delete_recovery_point(**named)

    assert place.points() == []
    with pytest.raises(ClientError, match="does not exist"):
        place.backup.delete_recovery_point(**named)


def test_the_policy_that_counts_is_that_of_the_vault_of_the_recovery_point(place: Place) -> None:
    place.create()
    place.aws.let_pass(days=1)
    [point] = place.points()
    place.backup.create_backup_vault(BackupVaultName="mine")

    with pytest.raises(ClientError, match="does not exist"):
        place.backup.delete_recovery_point(
            BackupVaultName="mine", RecoveryPointArn=point["RecoveryPointArn"]
        )

    assert place.points() == [point]


@pytest.mark.parametrize("policy", ["[]", "{"])
def test_a_policy_that_is_no_object_is_refused(place: Place, policy: str) -> None:
    place.backup.create_backup_vault(BackupVaultName="mine")

    with pytest.raises(ClientError, match="InvalidParameterValueException"):
        place.backup.put_backup_vault_access_policy(BackupVaultName="mine", Policy=policy)
