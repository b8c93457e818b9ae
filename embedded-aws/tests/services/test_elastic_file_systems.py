"""File systems of Amazon EFS, their mount targets and access points."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Params = dict[str, Any]
Refusal = Callable[..., Any]
ELASTIC = {"ThroughputMode": "elastic"}
TO_ARCHIVE = [{"TransitionToIA": "AFTER_30_DAYS"}, {"TransitionToArchive": "AFTER_90_DAYS"}]


@pytest.fixture
def efs(client: Callable[..., Any]) -> Any:
    return client("efs")


@pytest.fixture
def file_system(efs: Any) -> str:
    created: str = efs.create_file_system(**ELASTIC)["FileSystemId"]
    return created


@pytest.fixture
def target(efs: Any, file_system: str, subnet: str, group: str) -> Params:
    made: Params = efs.create_mount_target(
        FileSystemId=file_system, SubnetId=subnet, SecurityGroups=[group]
    )
    return made


def test_a_file_system_has_the_defaults_of_the_api(efs: Any, name: str) -> None:
    tags = [{"Key": "Name", "Value": "home"}]
    made = efs.create_file_system(CreationToken=name, Tags=tags)

    (found,) = efs.describe_file_systems(CreationToken=name)["FileSystems"]

    assert made["LifeCycleState"] == "creating"
    assert found["LifeCycleState"] == "available"
    assert found["FileSystemId"] == made["FileSystemId"]
    assert (found["ThroughputMode"], found["PerformanceMode"]) == ("bursting", "generalPurpose")
    assert (found["Encrypted"], found["Name"], found["Tags"]) == (False, "home", tags)
    assert found["NumberOfMountTargets"] == 0
    backup = efs.describe_backup_policy(FileSystemId=found["FileSystemId"])
    assert backup["BackupPolicy"] == {"Status": "DISABLED"}


def test_a_creation_token_makes_one_file_system(efs: Any, name: str) -> None:
    made = efs.create_file_system(CreationToken=name)["FileSystemId"]

    with pytest.raises(efs.exceptions.FileSystemAlreadyExists) as error:
        efs.create_file_system(CreationToken=name)

    assert error.value.response["FileSystemId"] == made
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 409


def test_an_encrypted_file_system_has_a_key(efs: Any, client: Callable[..., Any]) -> None:
    key = client("kms").create_key()["KeyMetadata"]

    by_default = efs.create_file_system(Encrypted=True)
    by_own_key = efs.create_file_system(Encrypted=True, KmsKeyId=key["KeyId"])

    assert by_default["KmsKeyId"].startswith("arn:aws:kms:us-west-2:")
    assert by_own_key["KmsKeyId"] == key["Arn"]


def test_an_asymmetric_key_encrypts_no_file_system(
    efs: Any, client: Callable[..., Any], refusal: Refusal
) -> None:
    key = client("kms").create_key(KeySpec="RSA_2048", KeyUsage="ENCRYPT_DECRYPT")["KeyMetadata"]

    refused = refusal(efs.create_file_system, Encrypted=True, KmsKeyId=key["KeyId"])

    assert "is not an enabled symmetric encryption key" in refused.message


@pytest.mark.parametrize(
    ("params", "code", "words"),
    [
        pytest.param(
            {"KmsKeyId": "0ef0f111-cdc8-4dda-b0bc-bf625bd5f154"},
            "BadRequest",
            "whose Encrypted is true only",
            id="key-not-encrypted",
        ),
        pytest.param(
            {"KmsKeyId": "00000000-cdc8-4dda-b0bc-bf625bd5f154", "Encrypted": True},
            "BadRequest",
            "not an enabled symmetric",
            id="no-such-key",
        ),
        pytest.param(
            {"ThroughputMode": "provisioned"}, "BadRequest", "is required", id="no-throughput"
        ),
        pytest.param(
            {"ProvisionedThroughputInMibps": 64}, "BadRequest", "and only there", id="throughput"
        ),
        pytest.param(
            {"ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 3415},
            "ThroughputLimitExceeded",
            "3414",
            id="most-throughput",
        ),
        pytest.param(
            {**ELASTIC, "PerformanceMode": "maxIO"}, "BadRequest", "maxIO", id="elastic-max-io"
        ),
        pytest.param(
            {"AvailabilityZoneName": "us-west-2a", "PerformanceMode": "maxIO"},
            "BadRequest",
            "One Zone",
            id="one-zone-max-io",
        ),
        pytest.param(
            {"AvailabilityZoneName": "us-west-2z"},
            "UnsupportedAvailabilityZone",
            "us-west-2z",
            id="zone",
        ),
        pytest.param({"ThroughputMode": "fast"}, "BadRequest", "enum value set", id="mode"),
    ],
)
def test_impossible_file_systems_are_refused(
    efs: Any, refusal: Refusal, params: Params, code: str, words: str
) -> None:
    refused = refusal(efs.create_file_system, **params)

    assert (refused.code, words in refused.message) == (code, True)


def test_a_throughput_mode_changes_once_a_day(efs: Any, file_system: str, refusal: Refusal) -> None:
    provisioned = {"ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 128.0}
    efs.update_file_system(FileSystemId=file_system, **provisioned)
    efs.update_file_system(FileSystemId=file_system, ProvisionedThroughputInMibps=256.0)

    lower = refusal(
        efs.update_file_system, FileSystemId=file_system, ProvisionedThroughputInMibps=200.0
    )
    back = refusal(efs.update_file_system, FileSystemId=file_system, **ELASTIC)

    (found,) = efs.describe_file_systems(FileSystemId=file_system)["FileSystems"]
    assert (lower.code, back.code) == ("TooManyRequests", "TooManyRequests")
    assert "Wait until 20" in back.message
    assert found["ProvisionedThroughputInMibps"] == 256.0


def test_a_lifecycle_configuration_replaces_the_former_one(efs: Any, file_system: str) -> None:
    to_primary = {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"}
    efs.put_lifecycle_configuration(
        FileSystemId=file_system, LifecyclePolicies=[*TO_ARCHIVE, to_primary]
    )
    efs.put_lifecycle_configuration(FileSystemId=file_system, LifecyclePolicies=[to_primary])

    found = efs.describe_lifecycle_configuration(FileSystemId=file_system)

    assert found["LifecyclePolicies"] == [to_primary]


@pytest.mark.parametrize(
    ("mode", "policies", "words"),
    [
        pytest.param("bursting", TO_ARCHIVE, "Elastic throughput mode", id="archive-bursting"),
        pytest.param(
            "elastic",
            [{"TransitionToIA": "AFTER_90_DAYS"}, {"TransitionToArchive": "AFTER_90_DAYS"}],
            "must be later than TransitionToIA",
            id="archive-too-early",
        ),
        pytest.param(
            "elastic",
            [{"TransitionToIA": "AFTER_7_DAYS", "TransitionToArchive": "AFTER_90_DAYS"}],
            "One or more LifecyclePolicy objects specified are malformed.",
            id="two-in-one",
        ),
        pytest.param(
            "elastic",
            [{"TransitionToIA": "AFTER_7_DAYS"}, {"TransitionToIA": "AFTER_30_DAYS"}],
            "malformed",
            id="twice",
        ),
        pytest.param("elastic", [{"TransitionToIA": "AFTER_8_DAYS"}], "enum", id="days"),
    ],
)
def test_impossible_lifecycles_are_refused(
    efs: Any, refusal: Refusal, mode: str, policies: list[Params], words: str
) -> None:
    file_system = efs.create_file_system(ThroughputMode=mode)["FileSystemId"]

    refused = refusal(
        efs.put_lifecycle_configuration, FileSystemId=file_system, LifecyclePolicies=policies
    )

    assert refused.code == "BadRequest"
    assert words in refused.message


def test_archive_keeps_a_file_system_elastic(efs: Any, file_system: str, refusal: Refusal) -> None:
    efs.put_lifecycle_configuration(FileSystemId=file_system, LifecyclePolicies=TO_ARCHIVE)

    refused = refusal(efs.update_file_system, FileSystemId=file_system, ThroughputMode="bursting")

    assert "TransitionToArchive" in refused.message


def test_a_file_system_has_the_policy_that_was_put(
    efs: Any, file_system: str, refusal: Refusal
) -> None:
    tls = {"Bool": {"aws:SecureTransport": "false"}}
    everything = {"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [{**everything, "Condition": tls}]})
    lockout = json.dumps({"Version": "2012-10-17", "Statement": [everything]})
    # It lets in who comes from there.
    elsewhere = {"StringNotEquals": {"aws:SourceVpc": "vpc-0123456789abcdef0"}}
    network = json.dumps(
        {"Version": "2012-10-17", "Statement": [{**everything, "Condition": elsewhere}]}
    )
    resource = "arn:aws:elasticfilesystem:us-west-2:123456789012:file-system/fs-0123456789abcdef0"
    foreign = json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{**everything, "Condition": tls, "Resource": resource}],
        }
    )

    efs.put_file_system_policy(FileSystemId=file_system, Policy=network)
    efs.delete_file_system_policy(FileSystemId=file_system)
    other = refusal(efs.put_file_system_policy, FileSystemId=file_system, Policy=foreign)
    none = refusal(efs.describe_file_system_policy, FileSystemId=file_system)
    efs.put_file_system_policy(FileSystemId=file_system, Policy=policy)
    locked = refusal(efs.put_file_system_policy, FileSystemId=file_system, Policy=lockout)
    text = refusal(efs.put_file_system_policy, FileSystemId=file_system, Policy="policy")

    assert efs.describe_file_system_policy(FileSystemId=file_system)["Policy"] == policy
    assert none.code == "PolicyNotFound"
    assert {locked.code, text.code, other.code} == {"InvalidPolicyException"}
    assert "has a Resource that is not this file system" in other.message


def test_a_mount_target_has_an_interface_in_its_group(
    efs: Any, ec2: Any, file_system: str, target: Params, group: str, subnet: str
) -> None:
    (found,) = efs.describe_mount_targets(FileSystemId=file_system)["MountTargets"]
    (interface,) = ec2.describe_network_interfaces(
        NetworkInterfaceIds=[found["NetworkInterfaceId"]]
    )["NetworkInterfaces"]

    assert (target["LifeCycleState"], found["LifeCycleState"]) == ("creating", "available")
    assert found["AvailabilityZoneId"] == "usw2-az4"
    assert interface["PrivateIpAddress"] == found["IpAddress"]
    assert interface["RequesterManaged"] is True
    assert interface["Description"] == (
        f"Mount target {found['MountTargetId']} for file system {file_system}"
    )
    assert [each["GroupId"] for each in interface["Groups"]] == [group]


def test_a_mount_target_takes_other_groups(
    efs: Any, ec2: Any, vpc: str, target: Params, name: str
) -> None:
    target_id = target["MountTargetId"]
    other = ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]

    efs.modify_mount_target_security_groups(MountTargetId=target_id, SecurityGroups=[other])

    groups = efs.describe_mount_target_security_groups(MountTargetId=target_id)["SecurityGroups"]
    assert groups == [other]
    efs.modify_mount_target_security_groups(MountTargetId=target_id, SecurityGroups=[])
    [default] = ec2.describe_security_groups(
        Filters=[{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
    )["SecurityGroups"]
    groups = efs.describe_mount_target_security_groups(MountTargetId=target_id)["SecurityGroups"]
    assert groups == [default["GroupId"]]


def test_the_address_of_a_mount_target_is_free_again(
    efs: Any, file_system: str, subnet: str, target: Params
) -> None:
    efs.delete_mount_target(MountTargetId=target["MountTargetId"])

    again = efs.create_mount_target(
        FileSystemId=file_system, SubnetId=subnet, IpAddress=target["IpAddress"]
    )

    assert again["IpAddress"] == target["IpAddress"]


def test_impossible_mount_targets_are_refused(
    efs: Any,
    ec2: Any,
    refusal: Refusal,
    file_system: str,
    target: Params,
    subnet: str,
    vpc: str,
    foreign_group: str,
) -> None:
    same_zone, other_zone = (
        ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        for block, zone in (("10.20.64.0/24", "usw2-az4"), ("10.20.65.0/24", "usw2-az1"))
    )
    (other_vpc,) = ec2.describe_security_groups(GroupIds=[foreign_group])["SecurityGroups"]
    foreign = ec2.create_subnet(VpcId=other_vpc["VpcId"], CidrBlock="10.99.0.0/24")["Subnet"]

    def refused(**params: Any) -> tuple[str, str]:
        said = refusal(efs.create_mount_target, **{"FileSystemId": file_system, **params})
        return said.code, said.message

    assert refused(SubnetId=same_zone) == (
        "MountTargetConflict",
        "mount target already exists in this AZ",
    )
    assert "not in the same VPC" in refused(SubnetId=foreign["SubnetId"])[1]
    groups = {"SubnetId": other_zone, "SecurityGroups": [foreign_group]}
    assert refused(**groups)[0] == "SecurityGroupNotFound"
    address = {"SubnetId": other_zone, "IpAddress": "10.20.66.9"}
    assert "subnet's address range" in refused(**address)[1]
    assert refused(SubnetId="subnet-0123456789abcdef0")[0] == "SubnetNotFound"
    unknown = {"FileSystemId": "fs-0123456789abcdef0", "SubnetId": subnet}
    assert refused(**unknown)[0] == "FileSystemNotFound"


def test_a_one_zone_file_system_is_mounted_in_its_zone(
    efs: Any, refusal: Refusal, subnet: str
) -> None:
    made = efs.create_file_system(AvailabilityZoneName="us-west-2a")

    refused = refusal(efs.create_mount_target, FileSystemId=made["FileSystemId"], SubnetId=subnet)

    backup = efs.describe_backup_policy(FileSystemId=made["FileSystemId"])["BackupPolicy"]
    assert refused.code == "AvailabilityZonesMismatch"
    assert backup == {"Status": "ENABLED"}


def test_what_is_used_is_deleted_last(
    efs: Any, ec2: Any, refusal: Refusal, file_system: str, target: Params, group: str
) -> None:
    of_group = refusal(ec2.delete_security_group, GroupId=group)
    of_files = refusal(efs.delete_file_system, FileSystemId=file_system)
    efs.delete_mount_target(MountTargetId=target["MountTargetId"])
    ec2.delete_security_group(GroupId=group)
    efs.delete_file_system(FileSystemId=file_system)

    assert of_group.code == "DependencyViolation"
    assert of_files.code == "FileSystemInUse"
    assert of_files.message == (
        f"The file system '{file_system}' cannot be deleted because it has mount targets. You must "
        "delete the mount targets, and then try again."
    )
    gone = refusal(efs.describe_file_systems, FileSystemId=file_system)
    assert gone.code == "FileSystemNotFound"


def test_access_points_have_tags_and_one_token(efs: Any, file_system: str, name: str) -> None:
    user = {"Uid": 1000, "Gid": 1000}
    made = efs.create_access_point(ClientToken=name, FileSystemId=file_system, PosixUser=user)
    point_id = made["AccessPointId"]

    efs.tag_resource(ResourceId=point_id, Tags=[{"Key": "Name", "Value": "home"}])
    (found,) = efs.describe_access_points(FileSystemId=file_system)["AccessPoints"]
    efs.untag_resource(ResourceId=point_id, TagKeys=["Name"])

    assert (found["Name"], found["PosixUser"]) == ("home", user)
    assert found["RootDirectory"] == {"Path": "/"}
    assert efs.list_tags_for_resource(ResourceId=point_id)["Tags"] == []
    with pytest.raises(efs.exceptions.AccessPointAlreadyExists) as error:
        efs.create_access_point(ClientToken=name, FileSystemId=file_system)
    assert error.value.response["AccessPointId"] == point_id
    efs.delete_file_system(FileSystemId=file_system)
    with pytest.raises(efs.exceptions.AccessPointNotFound):
        efs.describe_access_points(AccessPointId=point_id)


def test_file_systems_are_listed_in_pages(efs: Any, file_system: str) -> None:
    efs.create_file_system()
    pages = efs.get_paginator("describe_file_systems").paginate(PaginationConfig={"PageSize": 1})

    listed = [page["FileSystems"] for page in pages]

    assert len(listed) > 1
    assert {len(systems) for systems in listed} == {1}
