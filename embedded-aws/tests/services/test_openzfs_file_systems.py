"""FSx for OpenZFS file systems, their root volumes and backups."""

from collections.abc import Callable
from typing import Any

import pytest

Params = dict[str, Any]
Refusal = Callable[..., Any]
EXPORT = {"ClientConfigurations": [{"Clients": "10.20.0.0/16", "Options": ["rw", "crossmnt"]}]}


@pytest.fixture
def fsx(client: Callable[..., Any]) -> Any:
    return client("fsx")


@pytest.fixture
def nfs(ec2: Any, vpc: str, name: str) -> str:
    """A security group whose members reach each other over NFS, and nothing else."""
    group_id: str = ec2.create_security_group(GroupName=name, Description="NFS", VpcId=vpc)[
        "GroupId"
    ]
    own = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049}
    own["UserIdGroupPairs"] = [{"GroupId": group_id}]
    ec2.authorize_security_group_ingress(GroupId=group_id, IpPermissions=[own])
    everything = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.revoke_security_group_egress(GroupId=group_id, IpPermissions=everything)
    return group_id


@pytest.fixture
def wanted(subnet: str, nfs: str) -> Params:
    """A file system that AWS accepts."""
    return {
        "FileSystemType": "OPENZFS",
        "StorageCapacity": 1024,
        "SubnetIds": [subnet],
        "SecurityGroupIds": [nfs],
        "OpenZFSConfiguration": {
            "DeploymentType": "SINGLE_AZ_HA_2",
            "ThroughputCapacity": 160,
            "RootVolumeConfiguration": {"NfsExports": [EXPORT], "DataCompressionType": "ZSTD"},
        },
    }


@pytest.fixture
def file_system(fsx: Any, wanted: Params) -> Params:
    made: Params = fsx.create_file_system(**wanted)["FileSystem"]
    return made


def changed(wanted: Params, change: Params) -> Params:
    """Return the parameters with a change; None takes a field away."""
    openzfs = {**wanted["OpenZFSConfiguration"], **(change.get("OpenZFSConfiguration") or {})}
    merged = {"OpenZFSConfiguration": openzfs, **wanted, **change}
    if change.get("OpenZFSConfiguration"):
        merged["OpenZFSConfiguration"] = openzfs
    return {key: value for key, value in merged.items() if value is not None}


def described(fsx: Any, file_system: Params) -> Params:
    ids = [file_system["FileSystemId"]]
    (found,) = fsx.describe_file_systems(FileSystemIds=ids)["FileSystems"]
    return dict(found)


def test_a_file_system_is_described_as_created(fsx: Any, file_system: Params) -> None:
    found = described(fsx, file_system)
    openzfs = found["OpenZFSConfiguration"]

    assert (file_system["Lifecycle"], found["Lifecycle"]) == ("CREATING", "AVAILABLE")
    assert (found["FileSystemType"], found["StorageType"]) == ("OPENZFS", "SSD")
    assert found["DNSName"] == f"{found['FileSystemId']}.fsx.us-west-2.amazonaws.com"
    assert len(found["NetworkInterfaceIds"]) == 2
    assert openzfs["DiskIopsConfiguration"] == {"Mode": "AUTOMATIC", "Iops": 3072}
    assert openzfs["AutomaticBackupRetentionDays"] == 30
    assert "RootVolumeConfiguration" not in openzfs


def test_a_file_system_has_a_root_volume(fsx: Any, file_system: Params, refusal: Refusal) -> None:
    volume_id = file_system["OpenZFSConfiguration"]["RootVolumeId"]
    own = [{"Name": "file-system-id", "Values": [file_system["FileSystemId"]]}]

    (before,) = fsx.describe_volumes(Filters=own)["Volumes"]
    fsx.update_volume(VolumeId=volume_id, OpenZFSConfiguration={"DataCompressionType": "LZ4"})
    (after,) = fsx.describe_volumes(VolumeIds=[volume_id])["Volumes"]

    assert before["VolumeId"] == volume_id
    assert before["OpenZFSConfiguration"]["NfsExports"] == [EXPORT]
    assert before["OpenZFSConfiguration"]["VolumePath"] == "/fsx"
    compression = [it["OpenZFSConfiguration"]["DataCompressionType"] for it in (before, after)]
    assert compression == ["ZSTD", "LZ4"]
    assert "root volume" in refusal(fsx.delete_volume, VolumeId=volume_id).message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            {"OpenZFSConfiguration": {"ThroughputCapacity": 64}},
            "Valid values are 160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240 MBps",
            id="throughput",
        ),
        pytest.param(
            {"OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_1"}},
            "Valid values are 64, 128, 256",
            id="throughput-of-first-generation",
        ),
        pytest.param(
            {"OpenZFSConfiguration": {"DeploymentType": "MULTI_AZ_1"}}, "MULTI_AZ_1", id="multi-az"
        ),
        pytest.param({"StorageCapacity": 63}, "64 to 524288 GiB", id="capacity"),
        pytest.param({"StorageCapacity": None}, "64 to 524288 GiB", id="no-capacity"),
        pytest.param({"StorageType": "INTELLIGENT_TIERING"}, "not supported", id="tiered"),
        pytest.param({"FileSystemTypeVersion": "2.15"}, "FileSystemTypeVersion", id="version"),
        pytest.param({"LustreConfiguration": {}}, "LustreConfiguration", id="lustre"),
        pytest.param(
            {"OpenZFSConfiguration": {"DiskIopsConfiguration": {"Mode": "USER_PROVISIONED"}}},
            "in USER_PROVISIONED mode, and only there",
            id="no-iops",
        ),
        pytest.param(
            {
                "OpenZFSConfiguration": {
                    "DiskIopsConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 3071}
                }
            },
            "Valid values are 3072 to 400000",
            id="iops",
        ),
        pytest.param(
            {"OpenZFSConfiguration": {"RootVolumeConfiguration": {"RecordSizeKiB": 100}}},
            "4, 8, 16, 32, 64, 128, 256, 512, 1024",
            id="record-size",
        ),
        pytest.param(
            {
                "OpenZFSConfiguration": {
                    "RootVolumeConfiguration": {
                        "NfsExports": [
                            {"ClientConfigurations": [{"Clients": "nodes", "Options": ["rw"]}]}
                        ]
                    }
                }
            },
            "a wildcard character",
            id="clients",
        ),
        pytest.param(
            {
                "OpenZFSConfiguration": {
                    "RootVolumeConfiguration": {
                        "NfsExports": [
                            {"ClientConfigurations": [{"Clients": "*", "Options": ["rwx"]}]}
                        ]
                    }
                }
            },
            "'rwx' is not a valid NFS export option",
            id="options",
        ),
        pytest.param(
            {"OpenZFSConfiguration": None}, "A file system configuration is required", id="none"
        ),
    ],
)
def test_impossible_file_systems_are_refused(
    fsx: Any, wanted: Params, refusal: Refusal, change: Params, words: str
) -> None:
    assert words in refusal(fsx.create_file_system, **changed(wanted, change)).message


def test_the_group_lets_nfs_in_from_itself(
    fsx: Any, ec2: Any, wanted: Params, vpc: str, name: str, refusal: Refusal
) -> None:
    closed = ec2.create_security_group(GroupName=f"{name}-closed", Description="x", VpcId=vpc)
    wanted["SecurityGroupIds"] = [closed["GroupId"]]

    refused = refusal(fsx.create_file_system, **wanted)

    assert refused.code == "InvalidNetworkSettings"
    assert refused.message.endswith("do not permit NFS network traffic on port 2049")


def test_a_file_system_grows_by_a_tenth_every_six_hours(
    fsx: Any, file_system: Params, refusal: Refusal
) -> None:
    own = {"FileSystemId": file_system["FileSystemId"]}

    little = refusal(fsx.update_file_system, **own, StorageCapacity=1100)
    fsx.update_file_system(
        **own, StorageCapacity=1200, OpenZFSConfiguration={"ThroughputCapacity": 320}
    )
    soon = refusal(fsx.update_file_system, **own, StorageCapacity=2400)

    found = described(fsx, file_system)
    assert "at least 10 percent greater" in little.message
    assert "six hours apart" in soon.message
    assert found["StorageCapacity"] == 1200
    assert found["OpenZFSConfiguration"]["ThroughputCapacity"] == 320
    assert found["OpenZFSConfiguration"]["DiskIopsConfiguration"]["Iops"] == 3600


def test_an_update_is_of_the_kind_of_the_file_system(
    fsx: Any, file_system: Params, refusal: Refusal
) -> None:
    refused = refusal(
        fsx.update_file_system,
        FileSystemId=file_system["FileSystemId"],
        LustreConfiguration={"DataCompressionType": "LZ4"},
    )

    assert "LustreConfiguration is not for OpenZFS" in refused.message


def test_a_deletion_leaves_a_last_backup(
    fsx: Any, ec2: Any, file_system: Params, nfs: str, refusal: Refusal
) -> None:
    held = refusal(ec2.delete_security_group, GroupId=nfs).code

    answer = fsx.delete_file_system(FileSystemId=file_system["FileSystemId"])

    ec2.delete_security_group(GroupId=nfs)
    ids = [answer["OpenZFSResponse"]["FinalBackupId"]]
    (backup,) = fsx.describe_backups(BackupIds=ids)["Backups"]
    assert held == "DependencyViolation"
    assert backup["FileSystem"]["FileSystemId"] == file_system["FileSystemId"]
    assert (backup["Type"], backup["Lifecycle"]) == ("USER_INITIATED", "AVAILABLE")
    fsx.delete_backup(BackupId=ids[0])
    assert refusal(fsx.describe_backups, BackupIds=ids).code == "BackupNotFound"


def test_a_deletion_may_skip_the_last_backup(fsx: Any, file_system: Params) -> None:
    file_system_id = file_system["FileSystemId"]
    own = [{"Name": "file-system-id", "Values": [file_system_id]}]

    answer = fsx.delete_file_system(
        FileSystemId=file_system_id, OpenZFSConfiguration={"SkipFinalBackup": True}
    )

    assert "OpenZFSResponse" not in answer
    assert fsx.describe_backups(Filters=own)["Backups"] == []


def test_a_backup_has_the_tags_of_its_file_system(
    fsx: Any, wanted: Params, name: str, refusal: Refusal
) -> None:
    tags = [{"Key": "cluster", "Value": "train"}]
    wanted["OpenZFSConfiguration"]["CopyTagsToBackups"] = True
    made = fsx.create_file_system(**wanted, Tags=tags)["FileSystem"]["FileSystemId"]

    first = fsx.create_backup(FileSystemId=made, ClientRequestToken=name)["Backup"]
    again = fsx.create_backup(FileSystemId=made, ClientRequestToken=name)["Backup"]

    (found,) = fsx.describe_backups(BackupIds=[first["BackupId"]])["Backups"]
    assert first["BackupId"] == again["BackupId"]
    assert (first["Lifecycle"], found["Lifecycle"]) == ("CREATING", "AVAILABLE")
    assert found["Tags"] == tags


def test_scratch_file_systems_have_no_backups(
    fsx: Any, subnet: str, group: str, refusal: Refusal
) -> None:
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]

    refused = refusal(fsx.create_backup, FileSystemId=made["FileSystemId"])

    assert (refused.code, "scratch" in refused.message) == ("BadRequest", True)
