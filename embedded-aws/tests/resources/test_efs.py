"""File systems of EFS, their mount targets and access points through their handlers."""

from typing import Any

import pytest


@pytest.fixture
def file_system(deploy: Any) -> Any:
    return deploy(
        "AWS::EFS::FileSystem",
        "Home",
        Encrypted=True,
        ThroughputMode="elastic",
        LifecyclePolicies=[{"TransitionToIA": "AFTER_30_DAYS"}],
        BackupPolicy={"Status": "ENABLED"},
        FileSystemPolicy={
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Deny",
                    "Principal": {"AWS": "*"},
                    "Action": "*",
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            ],
        },
        FileSystemTags=[{"Key": "Name", "Value": "home"}],
    )


def described(client: Any, file_system: Any) -> dict[str, Any]:
    (found,) = client("efs").describe_file_systems(FileSystemId=file_system.ref)["FileSystems"]
    return dict(found)


def test_a_file_system_is_as_its_template_says(client: Any, file_system: Any) -> None:
    efs, found = client("efs"), described(client, file_system)

    lifecycle = efs.describe_lifecycle_configuration(FileSystemId=file_system.ref)

    assert file_system.attributes["Arn"] == found["FileSystemArn"]
    assert (found["Encrypted"], found["ThroughputMode"]) == (True, "elastic")
    assert {"Key": "Name", "Value": "home"} in found["Tags"]
    assert {"Key": "Owner", "Value": "ml-platform"} in found["Tags"]
    assert lifecycle["LifecyclePolicies"] == [{"TransitionToIA": "AFTER_30_DAYS"}]
    assert "Deny" in efs.describe_file_system_policy(FileSystemId=file_system.ref)["Policy"]


def test_a_file_system_changes_in_place(client: Any, file_system: Any) -> None:
    efs = client("efs")

    file_system.update(
        "LifecyclePolicies",
        "FileSystemTags",
        "FileSystemPolicy",
        ThroughputMode="provisioned",
        ProvisionedThroughputInMibps=64,
        BackupPolicy={"Status": "DISABLED"},
        FileSystemProtection={"ReplicationOverwriteProtection": "DISABLED"},
    )

    found = described(client, file_system)
    assert found["ProvisionedThroughputInMibps"] == 64
    assert found["FileSystemProtection"] == {"ReplicationOverwriteProtection": "DISABLED"}
    assert "Name" not in [tag["Key"] for tag in found["Tags"]]
    policies = efs.describe_lifecycle_configuration(FileSystemId=file_system.ref)
    assert policies["LifecyclePolicies"] == []
    backup = efs.describe_backup_policy(FileSystemId=file_system.ref)
    assert backup["BackupPolicy"] == {"Status": "DISABLED"}
    with pytest.raises(efs.exceptions.PolicyNotFound):
        efs.describe_file_system_policy(FileSystemId=file_system.ref)


def test_a_file_system_goes_after_its_mount_target(
    client: Any, deploy: Any, file_system: Any, subnet: Any, group: Any, vpc: Any
) -> None:
    other = deploy("AWS::EC2::SecurityGroup", "Other", GroupDescription="other", VpcId=vpc.ref)
    target = deploy(
        "AWS::EFS::MountTarget",
        FileSystemId=file_system.ref,
        SubnetId=subnet.ref,
        SecurityGroups=[group.ref],
    )

    target.update(SecurityGroups=[other.ref])

    groups = client("efs").describe_mount_target_security_groups(MountTargetId=target.ref)
    assert target.attributes["IpAddress"].startswith("10.20.")
    assert groups["SecurityGroups"] == [other.ref]
    with pytest.raises(client("efs").exceptions.FileSystemInUse):
        file_system.delete()
    target.delete()
    target.delete()
    file_system.delete()
    file_system.delete()


def test_an_access_point_leads_into_a_file_system(
    client: Any, deploy: Any, file_system: Any
) -> None:
    point = deploy(
        "AWS::EFS::AccessPoint",
        FileSystemId=file_system.ref,
        PosixUser={"Uid": "1000", "Gid": "1000"},
        AccessPointTags=[{"Key": "Name", "Value": "home"}],
    )

    (found,) = client("efs").describe_access_points(AccessPointId=point.ref)["AccessPoints"]
    point.delete()
    point.delete()

    assert found["AccessPointArn"] == point.attributes["Arn"]
    assert (found["Name"], found["PosixUser"]) == ("home", {"Uid": 1000, "Gid": 1000})
