"""Lustre file systems and their links to S3 through their handlers."""

from typing import Any

import pytest


@pytest.fixture
def file_system(deploy: Any, vpc: Any, subnet: Any) -> Any:
    lustre = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "CidrIp": "10.20.0.0/16"}
    group = deploy(
        "AWS::EC2::SecurityGroup",
        "Lustre",
        GroupDescription="Lustre",
        VpcId=vpc.ref,
        SecurityGroupIngress=[lustre],
    )
    return deploy(
        "AWS::FSx::FileSystem",
        "Data",
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=1200,
        SubnetIds=[subnet.ref],
        SecurityGroupIds=[group.ref],
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 125,
            "DataCompressionType": "LZ4",
        },
        Tags=[{"Key": "Name", "Value": "data"}],
    )


def file_systems(client: Any) -> dict[str, dict[str, Any]]:
    reply = client("fsx").describe_file_systems()
    return {found["FileSystemId"]: found for found in reply["FileSystems"]}


def test_a_file_system_says_how_to_mount_it(client: Any, file_system: Any) -> None:
    found = file_systems(client)[file_system.ref]

    assert file_system.attributes["DNSName"] == found["DNSName"]
    assert file_system.attributes["LustreMountName"] == found["LustreConfiguration"]["MountName"]
    assert file_system.attributes["LustreMountName"] not in ("", "fsx")
    assert {"Key": "Name", "Value": "data"} in found["Tags"]


def test_a_file_system_grows_in_place(client: Any, file_system: Any) -> None:
    configuration = file_system.request.properties["LustreConfiguration"]

    file_system.update(
        StorageCapacity=2400, LustreConfiguration={**configuration, "DataCompressionType": "NONE"}
    )

    found = file_systems(client)[file_system.ref]
    assert found["StorageCapacity"] == 2400
    assert found["LustreConfiguration"]["DataCompressionType"] == "NONE"
    assert found["LustreConfiguration"]["DeploymentType"] == "PERSISTENT_2"


def test_a_deleted_file_system_is_gone(client: Any, file_system: Any) -> None:
    file_system.delete()
    file_system.delete()

    assert file_system.ref not in file_systems(client)


def test_a_link_to_s3_changes_its_policy_and_goes(
    client: Any, deploy: Any, file_system: Any
) -> None:
    fsx = client("fsx")
    bucket = deploy("AWS::S3::Bucket")
    link = deploy(
        "AWS::FSx::DataRepositoryAssociation",
        FileSystemId=file_system.ref,
        FileSystemPath="/data",
        DataRepositoryPath=f"s3://{bucket.ref}/data/",
        BatchImportMetaDataOnCreate=True,
        S3={"AutoImportPolicy": {"Events": ["NEW"]}},
    )

    link.update(S3={"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}})

    reply = fsx.describe_data_repository_associations(AssociationIds=[link.ref])
    found = reply["Associations"][0]
    assert found["FileSystemId"] == file_system.ref
    assert found["S3"]["AutoImportPolicy"]["Events"] == ["NEW", "CHANGED"]
    link.delete()
    link.delete()
    remaining = fsx.describe_data_repository_associations()["Associations"]
    assert link.ref not in [each["AssociationId"] for each in remaining]


def test_an_openzfs_file_system_changes_in_place(
    client: Any, deploy: Any, vpc: Any, subnet: Any
) -> None:
    fsx = client("fsx")
    nfs = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049, "CidrIp": "10.20.0.0/16"}
    group = deploy(
        "AWS::EC2::SecurityGroup",
        "Nfs",
        GroupDescription="NFS",
        VpcId=vpc.ref,
        SecurityGroupIngress=[nfs],
    )
    exports = [{"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt"]}]}]
    openzfs = {
        "DeploymentType": "SINGLE_AZ_HA_2",
        "ThroughputCapacity": 160,
        "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
        "RootVolumeConfiguration": {"NfsExports": exports},
    }
    home = deploy(
        "AWS::FSx::FileSystem",
        "Home",
        FileSystemType="OPENZFS",
        StorageCapacity=128,
        SubnetIds=[subnet.ref],
        SecurityGroupIds=[group.ref],
        OpenZFSConfiguration=openzfs,
    )

    home.update(
        StorageCapacity=256,
        OpenZFSConfiguration={**openzfs, "ThroughputCapacity": 320, "Options": []},
    )

    (volume,) = fsx.describe_volumes(VolumeIds=[home.attributes["RootVolumeId"]])["Volumes"]
    assert volume["OpenZFSConfiguration"]["NfsExports"] == exports
    assert home.attributes["LustreMountName"] == ""
    found = file_systems(client)[home.ref]
    assert found["StorageCapacity"] == 256
    assert found["OpenZFSConfiguration"]["ThroughputCapacity"] == 320
    home.delete()
    home.delete()
    own = [{"Name": "file-system-id", "Values": [home.ref]}]
    assert len(fsx.describe_backups(Filters=own)["Backups"]) == 1
