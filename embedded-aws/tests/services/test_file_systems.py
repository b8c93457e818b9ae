"""FSx for Lustre file systems."""

from collections.abc import Callable
from typing import Any

import pytest

Params = dict[str, Any]
METADATA = {"Mode": "AUTOMATIC"}


@pytest.fixture
def fsx(client: Callable[..., Any]) -> Any:
    return client("fsx")


@pytest.fixture
def wanted(subnet: str, group: str) -> Params:
    """A file system that AWS accepts."""
    return {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 4800,
        "SubnetIds": [subnet],
        "SecurityGroupIds": [group],
        "LustreConfiguration": {
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 250,
            "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
            "DataCompressionType": "LZ4",
        },
    }


def changed(wanted: Params, change: Params) -> Params:
    """Return the parameters with a change; None takes a field away."""
    lustre = {**wanted["LustreConfiguration"], **change.get("LustreConfiguration", {})}
    merged = {**wanted, **change, "LustreConfiguration": lustre}
    merged["LustreConfiguration"] = {k: v for k, v in lustre.items() if v is not None}
    return {key: value for key, value in merged.items() if value is not None}


SCRATCH_2 = {
    "DeploymentType": "SCRATCH_2",
    "PerUnitStorageThroughput": None,
    "MetadataConfiguration": None,
}


def test_a_file_system_is_described_as_created(fsx: Any, wanted: Params) -> None:
    made = fsx.create_file_system(**wanted, Tags=[{"Key": "cluster", "Value": "train"}])
    file_system_id = made["FileSystem"]["FileSystemId"]

    found = fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"][0]

    lustre = found["LustreConfiguration"]
    assert found["Lifecycle"] == "AVAILABLE"
    assert found["DNSName"] == f"{file_system_id}.fsx.us-west-2.amazonaws.com"
    assert lustre["MountName"].isalnum()
    assert lustre["MountName"] != "fsx"
    assert lustre["MetadataConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": 6000}
    assert lustre["DataCompressionType"] == "LZ4"
    assert found["FileSystemTypeVersion"] == "2.15"
    assert found["Tags"] == [{"Key": "cluster", "Value": "train"}]


def test_two_file_systems_have_different_mount_names(fsx: Any, wanted: Params) -> None:
    names = {
        fsx.create_file_system(**wanted)["FileSystem"]["LustreConfiguration"]["MountName"]
        for _ in range(2)
    }

    assert len(names) == 2


def test_one_token_makes_one_file_system(fsx: Any, wanted: Params, name: str) -> None:
    first = fsx.create_file_system(**wanted, ClientRequestToken=name)["FileSystem"]
    again = fsx.create_file_system(**wanted, ClientRequestToken=name)["FileSystem"]

    assert first["FileSystemId"] == again["FileSystemId"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"StorageCapacity": 1200, "LustreConfiguration": SCRATCH_2}, id="scratch-2"),
        pytest.param(
            {
                "StorageCapacity": 6000,
                "StorageType": "HDD",
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_1",
                    "PerUnitStorageThroughput": 12,
                    "MetadataConfiguration": None,
                    "DriveCacheType": "READ",
                },
            },
            id="hdd",
        ),
        pytest.param(
            {
                "StorageCapacity": 4800,
                "LustreConfiguration": {"EfaEnabled": True, "PerUnitStorageThroughput": 1000},
            },
            id="efa-1000",
        ),
        pytest.param(
            {
                "StorageCapacity": 38400,
                "LustreConfiguration": {"EfaEnabled": True, "PerUnitStorageThroughput": 125},
            },
            id="efa-125",
        ),
        pytest.param(
            {
                "StorageCapacity": None,
                "StorageType": "INTELLIGENT_TIERING",
                "LustreConfiguration": {
                    "PerUnitStorageThroughput": None,
                    "ThroughputCapacity": 8000,
                },
            },
            id="tiered",
        ),
    ],
)
def test_file_systems_on_the_ladder_are_made(fsx: Any, wanted: Params, change: Params) -> None:
    made = fsx.create_file_system(**changed(wanted, change))["FileSystem"]

    assert made["FileSystemId"].startswith("fs-")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            {"StorageCapacity": 5000},
            "Storage capacity 5000 GiB is not valid for PERSISTENT_2 file systems. Valid values "
            "are 1200, 2400 and multiples of 2400 GiB.",
            id="capacity",
        ),
        pytest.param({"StorageCapacity": 0}, "Storage capacity 0 GiB", id="no-capacity"),
        pytest.param(
            {"StorageCapacity": 3600, "LustreConfiguration": SCRATCH_2},
            "3600 GiB is not valid for SCRATCH_2",
            id="scratch-2-capacity",
        ),
        pytest.param(
            {
                "StorageCapacity": 9600,
                "LustreConfiguration": {"EfaEnabled": True, "PerUnitStorageThroughput": 125},
            },
            "multiples of 38400 GiB",
            id="efa-capacity",
        ),
        pytest.param(
            {"LustreConfiguration": {"EfaEnabled": True, "MetadataConfiguration": None}},
            "with a metadata configuration only",
            id="efa-without-metadata",
        ),
        pytest.param(
            {"LustreConfiguration": {"PerUnitStorageThroughput": 200}},
            "Valid values are 125, 250, 500, 1000 MB/s/TiB",
            id="throughput",
        ),
        pytest.param(
            {"LustreConfiguration": {"PerUnitStorageThroughput": None}},
            "PerUnitStorageThroughput None",
            id="no-throughput",
        ),
        pytest.param(
            {"LustreConfiguration": {**SCRATCH_2, "PerUnitStorageThroughput": 200}},
            "cannot be set on SCRATCH_2",
            id="scratch-throughput",
        ),
        pytest.param(
            {
                "LustreConfiguration": {
                    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 5000}
                }
            },
            "1500, 3000, 6000, 12000 and multiples of 12000",
            id="iops",
        ),
        pytest.param(
            {
                "LustreConfiguration": {
                    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 204000}
                }
            },
            "less than or equal to 192000",
            id="most-iops",
        ),
        pytest.param(
            {"LustreConfiguration": {"MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": 6000}}},
            "in USER_PROVISIONED mode, and only there",
            id="automatic-iops",
        ),
        pytest.param(
            {"LustreConfiguration": {**SCRATCH_2, "MetadataConfiguration": METADATA}},
            "for PERSISTENT_2 file systems only",
            id="scratch-metadata",
        ),
        pytest.param(
            {"FileSystemTypeVersion": "2.12"},
            "2.12 is not supported on PERSISTENT_2 file systems with a metadata configuration",
            id="2.12",
        ),
        pytest.param({"FileSystemTypeVersion": "2.10"}, "2.10 is not supported", id="2.10"),
        pytest.param({"FileSystemTypeVersion": "2.16"}, "2.10, 2.12, 2.15", id="2.16"),
        pytest.param({"StorageType": "HDD"}, "HDD is not supported on PERSISTENT_2", id="hdd"),
        pytest.param(
            {"LustreConfiguration": {"DeploymentType": "PERSISTENT_3"}}, "PERSISTENT_3", id="type"
        ),
        pytest.param(
            {"LustreConfiguration": {"DataCompressionType": "ZSTD"}}, "NONE, LZ4", id="compression"
        ),
        pytest.param(
            {"LustreConfiguration": {**SCRATCH_2, "AutomaticBackupRetentionDays": 7}},
            "Backups are not supported on SCRATCH_2",
            id="scratch-backups",
        ),
        pytest.param(
            {"LustreConfiguration": {"AutomaticBackupRetentionDays": 91}},
            "less than or equal to 90",
            id="backups",
        ),
        pytest.param(
            {"LustreConfiguration": {"ImportPath": "s3://data"}},
            "create a data repository association",
            id="import-path",
        ),
    ],
)
def test_file_systems_off_the_ladder_are_refused(
    fsx: Any, wanted: Params, refusal: Callable[..., Any], change: Params, words: str
) -> None:
    assert words in refusal(fsx.create_file_system, **changed(wanted, change)).message


def test_a_group_that_blocks_988_is_refused(
    fsx: Any, ec2: Any, vpc: str, wanted: Params, refusal: Callable[..., Any]
) -> None:
    closed = ec2.create_security_group(GroupName="c", Description="c", VpcId=vpc)["GroupId"]

    refused = refusal(fsx.create_file_system, **{**wanted, "SecurityGroupIds": [closed]})
    ec2.authorize_security_group_ingress(
        GroupId=closed,
        IpPermissions=[
            {
                "IpProtocol": "tcp",
                "FromPort": 988,
                "ToPort": 988,
                "UserIdGroupPairs": [{"GroupId": closed}],
            }
        ],
    )
    made = fsx.create_file_system(**{**wanted, "SecurityGroupIds": [closed]})

    assert refused.code == "InvalidNetworkSettings"
    assert "do not permit Lustre LNET network traffic on port 988" in refused.message
    assert made["FileSystem"]["FileSystemId"]


def test_efa_needs_all_traffic_by_group_id(
    fsx: Any, ec2: Any, vpc: str, wanted: Params, refusal: Callable[..., Any]
) -> None:
    open_to_all = ec2.create_security_group(GroupName="o", Description="o", VpcId=vpc)["GroupId"]
    ec2.authorize_security_group_ingress(
        GroupId=open_to_all,
        IpPermissions=[{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}],
    )
    wanted["LustreConfiguration"] |= {"EfaEnabled": True, "PerUnitStorageThroughput": 1000}

    refused = refusal(fsx.create_file_system, **{**wanted, "SecurityGroupIds": [open_to_all]})

    assert refused.code == "InvalidNetworkSettings"
    assert (
        "Insufficient security group permissions to create an EFA-enabled file" in refused.message
    )


def test_a_group_of_another_vpc_is_refused(
    fsx: Any, wanted: Params, foreign_group: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(fsx.create_file_system, **{**wanted, "SecurityGroupIds": [foreign_group]})

    assert "belong to different VPCs" in refused.message


def test_one_subnet_is_needed(fsx: Any, wanted: Params, refusal: Callable[..., Any]) -> None:
    refused = refusal(fsx.create_file_system, **{**wanted, "SubnetIds": wanted["SubnetIds"] * 2})

    assert "Exactly one subnet ID" in refused.message


def test_a_file_system_grows_and_never_shrinks(
    fsx: Any, wanted: Params, refusal: Callable[..., Any]
) -> None:
    file_system_id = fsx.create_file_system(**wanted)["FileSystem"]["FileSystemId"]

    smaller = refusal(fsx.update_file_system, FileSystemId=file_system_id, StorageCapacity=2400)
    odd = refusal(fsx.update_file_system, FileSystemId=file_system_id, StorageCapacity=5000)
    fsx.update_file_system(
        FileSystemId=file_system_id,
        StorageCapacity=7200,
        LustreConfiguration={"PerUnitStorageThroughput": 500},
    )

    found = fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"][0]
    assert "must be greater than the current 4800 GiB" in smaller.message
    assert "multiples of 2400 GiB" in odd.message
    assert found["StorageCapacity"] == 7200
    assert found["LustreConfiguration"]["PerUnitStorageThroughput"] == 500


@pytest.mark.parametrize(
    "metadata, iops",
    [
        ({"Mode": "USER_PROVISIONED", "Iops": 3000}, None),
        # FSx would choose 6000 for 9600 GiB.
        ({"Mode": "AUTOMATIC"}, None),
        ({"Mode": "USER_PROVISIONED", "Iops": 12000}, 12000),
        ({"Mode": "USER_PROVISIONED", "Iops": 24000}, 24000),
    ],
)
def test_metadata_iops_only_grow(
    fsx: Any, wanted: Params, refusal: Callable[..., Any], metadata: Params, iops: int | None
) -> None:
    wanted["StorageCapacity"] = 9600
    wanted["LustreConfiguration"]["MetadataConfiguration"]["Iops"] = 12000
    file_system_id = fsx.create_file_system(**wanted)["FileSystem"]["FileSystemId"]
    asked = {
        "FileSystemId": file_system_id,
        "LustreConfiguration": {"MetadataConfiguration": metadata},
    }

    if iops is None:
        refused = refusal(fsx.update_file_system, **asked)
        assert "equal to the current 12000: downscaling" in refused.message
    else:
        fsx.update_file_system(**asked)
        [found] = fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"]
        assert found["LustreConfiguration"]["MetadataConfiguration"]["Iops"] == iops


def test_the_throughput_of_an_efa_file_system_is_fixed(
    fsx: Any, wanted: Params, refusal: Callable[..., Any]
) -> None:
    wanted["LustreConfiguration"] |= {"EfaEnabled": True, "PerUnitStorageThroughput": 1000}
    file_system_id = fsx.create_file_system(**wanted)["FileSystem"]["FileSystemId"]

    refused = refusal(
        fsx.update_file_system,
        FileSystemId=file_system_id,
        LustreConfiguration={"PerUnitStorageThroughput": 500},
    )

    assert "EFA-enabled file system cannot be changed" in refused.message


def test_a_file_system_holds_its_subnet_and_group_until_deleted(
    fsx: Any, ec2: Any, subnet: str, group: str, wanted: Params, refusal: Callable[..., Any]
) -> None:
    file_system_id = fsx.create_file_system(**wanted)["FileSystem"]["FileSystemId"]

    held = {
        refusal(ec2.delete_subnet, SubnetId=subnet).code,
        refusal(ec2.delete_security_group, GroupId=group).code,
    }
    fsx.delete_file_system(FileSystemId=file_system_id)
    ec2.delete_security_group(GroupId=group)
    ec2.delete_subnet(SubnetId=subnet)

    assert held == {"DependencyViolation"}
    refused = refusal(fsx.describe_file_systems, FileSystemIds=[file_system_id])
    assert refused.code == "FileSystemNotFound"
