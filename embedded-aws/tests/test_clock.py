"""What happens when a control lets time pass."""

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

# A backup is not taken just now.
DAILY = f"{datetime.now(UTC) + timedelta(hours=12):%H:%M}"


@pytest.fixture
def file_system(clean_aws: EmbeddedAws) -> str:
    """A file system of FSx for OpenZFS with daily backups, kept for a week."""
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    made: str = clean_aws.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[subnet],
        OpenZFSConfiguration={
            "DeploymentType": "SINGLE_AZ_2",
            "ThroughputCapacity": 160,
            "AutomaticBackupRetentionDays": 7,
            "DailyAutomaticBackupStartTime": DAILY,
        },
    )["FileSystem"]["FileSystemId"]
    return made


def test_throughput_of_efs_changes_again_after_a_day(clean_aws: EmbeddedAws) -> None:
    efs = clean_aws.client("efs")
    home = efs.create_file_system()["FileSystemId"]
    efs.update_file_system(FileSystemId=home, ThroughputMode="elastic")

    clean_aws.let_pass(hours=23)
    with pytest.raises(ClientError, match="TooManyRequests"):
        efs.update_file_system(FileSystemId=home, ThroughputMode="bursting")
    clean_aws.let_pass(hours=1)
    changed = efs.update_file_system(FileSystemId=home, ThroughputMode="bursting")

    assert changed["ThroughputMode"] == "bursting"


def test_fsx_backs_up_daily(clean_aws: EmbeddedAws, file_system: str) -> None:
    fsx = clean_aws.client("fsx")
    before = fsx.describe_backups()["Backups"]

    clean_aws.let_pass(days=3)
    after_three = fsx.describe_backups()["Backups"]
    clean_aws.let_pass(days=30)
    kept = fsx.describe_backups()["Backups"]

    assert (len(before), len(after_three), len(kept)) == (0, 3, 7)
    assert {backup["Type"] for backup in kept} == {"AUTOMATIC"}
    assert {f"{backup['CreationTime'].astimezone(UTC):%H:%M}" for backup in kept} == {DAILY}
    fsx.delete_backup(BackupId=kept[0]["BackupId"])
    assert fsx.describe_backups()["Backups"] == kept[1:]
    fsx.delete_file_system(FileSystemId=file_system, OpenZFSConfiguration={"SkipFinalBackup": True})
    assert fsx.describe_backups()["Backups"] == []


def test_storage_of_openzfs_grows_again_after_six_hours(
    clean_aws: EmbeddedAws, file_system: str
) -> None:
    fsx = clean_aws.client("fsx")
    fsx.update_file_system(FileSystemId=file_system, StorageCapacity=128)

    clean_aws.let_pass(hours=6)
    grown = fsx.update_file_system(FileSystemId=file_system, StorageCapacity=256)

    assert grown["FileSystem"]["StorageCapacity"] == 256


def test_a_reset_turns_the_clock_back(clean_aws: EmbeddedAws) -> None:
    efs = clean_aws.client("efs")
    before = efs.create_file_system()["CreationTime"]
    clean_aws.let_pass(days=90)

    clean_aws.reset()

    assert (efs.create_file_system()["CreationTime"] - before).days == 0
