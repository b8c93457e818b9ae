"""A cluster with a home on FSx for OpenZFS, from its deployment to the use of what was kept."""

from collections.abc import Callable

import pytest
from protected_stacks import there

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws

CLUSTER = """
name: TrainCluster
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
storage: {openzfs: {mount: /home, %s}}
"""

Deploy = Callable[[str], None]


@pytest.fixture
def deploy(deploy_cluster: Callable[..., None]) -> Deploy:
    """Deploy the network and the storage of the cluster, with some fields of `storage.openzfs`."""
    return lambda fields: deploy_cluster(CLUSTER % fields, "TrainNetwork", "TrainOpenZfs")


def clients_of(aws: EmbeddedAws, interface: str) -> list[str]:
    """Describe the groups from which a network interface takes NFS, each by its description."""
    ec2 = aws.client("ec2")
    [found] = ec2.describe_network_interfaces(NetworkInterfaceIds=[interface])["NetworkInterfaces"]
    [group] = found["Groups"]
    [server] = ec2.describe_security_groups(GroupIds=[group["GroupId"]])["SecurityGroups"]
    [rule] = server["IpPermissions"]
    assert (rule["FromPort"], rule["ToPort"], rule["IpRanges"]) == (2049, 2049, [])
    sources = [pair["GroupId"] for pair in rule["UserIdGroupPairs"]]
    peers = ec2.describe_security_groups(GroupIds=sources)["SecurityGroups"]
    return sorted(each["Description"] for each in peers)


def published(aws: EmbeddedAws) -> dict[str, str]:
    answer = aws.client("ssm").get_parameters_by_path(Path="/trainshed/openzfs/train")
    return {each["Name"].rpartition("/")[2]: each["Value"] for each in answer["Parameters"]}


def test_a_home_has_a_standby_backups_and_nfs_for_its_clients_alone(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy("capacity_gib: 512, throughput: 640")

    fsx = clean_aws.client("fsx")
    [made] = fsx.describe_file_systems()["FileSystems"]
    openzfs = made["OpenZFSConfiguration"]
    assert made["StorageCapacity"] == 512
    assert (openzfs["DeploymentType"], openzfs["ThroughputCapacity"]) == ("SINGLE_AZ_HA_2", 640)
    assert openzfs["AutomaticBackupRetentionDays"] == 7
    [volume] = fsx.describe_volumes(VolumeIds=[openzfs["RootVolumeId"]])["Volumes"]
    root = volume["OpenZFSConfiguration"]
    assert root["DataCompressionType"] == "ZSTD"
    [exports] = root["NfsExports"]
    [clients] = exports["ClientConfigurations"]
    assert clients["Options"] == ["rw", "crossmnt", "no_root_squash"]
    assert clients_of(clean_aws, made["NetworkInterfaceIds"][0]) == [
        "Nodes that mount the OpenZFS file system train",
        "OpenZFS file system",
    ]
    assert published(clean_aws) == {"dns-name": made["DNSName"], "volume-path": "/fsx"}


def test_a_home_grows_in_place_and_keeps_its_compression(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy("capacity_gib: 512")
    [made] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]

    deploy("capacity_gib: 1024, throughput: 320")
    with pytest.raises(DeploymentFailed, match="changing DataCompressionType from ZSTD to LZ4"):
        deploy("capacity_gib: 1024, throughput: 320, compression: lz4")

    [grown] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    assert grown["FileSystemId"] == made["FileSystemId"]
    assert grown["StorageCapacity"] == 1024
    assert grown["OpenZFSConfiguration"]["ThroughputCapacity"] == 320


def test_a_home_is_kept_and_used_again(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: Callable[[], str]
) -> None:
    deploy("capacity_gib: 64")
    [made] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    file_system, interface = made["FileSystemId"], made["NetworkInterfaceIds"][0]

    said = tear_down()

    # The file system is in the network.
    assert there(clean_aws) == {"TrainNetwork"}
    assert f"storage.openzfs.existing: {file_system}" in said
    assert clients_of(clean_aws, interface) == ["OpenZFS file system"]

    with pytest.raises(DeploymentFailed, match=f"{file_system} was kept when its stack"):
        deploy("capacity_gib: 64")
    tear_down()

    deploy(f"existing: {file_system}")
    assert clients_of(clean_aws, interface) == [
        "Nodes that mount the OpenZFS file system train",
        "OpenZFS file system",
    ]
    assert published(clean_aws) == {"dns-name": made["DNSName"], "volume-path": "/fsx"}
    tear_down()
    assert clients_of(clean_aws, interface) == ["OpenZFS file system"]


def test_a_file_system_of_another_type_is_refused(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.99.0.0/24")["Subnet"]["SubnetId"]
    lustre = clean_aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]

    with pytest.raises(DeploymentFailed, match=f"{lustre} is of type LUSTRE, not OPENZFS"):
        deploy(f"existing: {lustre}")
