"""A cluster with a home on EFS, from its first deployment to the use of what was kept."""

from collections.abc import Callable
from typing import Any

import pytest
from protected_stacks import there

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws

CLUSTER = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
storage: {efs: {mount: /home, %s}}
"""
PARAMETER = "/trainshed/efs/train/file-system-id"

Deploy = Callable[[str], None]


@pytest.fixture
def deploy(deploy_cluster: Callable[..., None]) -> Deploy:
    """Deploy the network and the storage of the cluster, with some fields of `storage.efs`."""
    return lambda fields: deploy_cluster(CLUSTER % fields, "TrainNetwork", "TrainEfs")


def targets(aws: EmbeddedAws, file_system: str) -> list[dict[str, Any]]:
    found = aws.client("efs").describe_mount_targets(FileSystemId=file_system)
    return list(found["MountTargets"])


def groups(aws: EmbeddedAws, target: dict[str, Any]) -> list[str]:
    answer = aws.client("efs").describe_mount_target_security_groups(
        MountTargetId=target["MountTargetId"]
    )
    return list(answer["SecurityGroups"])


def test_a_home_is_encrypted_elastic_and_open_to_its_clients_alone(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy("archive_days: 180")

    efs, ec2 = clean_aws.client("efs"), clean_aws.client("ec2")
    [made] = efs.describe_file_systems()["FileSystems"]
    file_system = made["FileSystemId"]
    assert (made["Encrypted"], made["ThroughputMode"]) == (True, "elastic")
    lifecycle = efs.describe_lifecycle_configuration(FileSystemId=file_system)["LifecyclePolicies"]
    assert lifecycle == [
        {"TransitionToIA": "AFTER_30_DAYS"},
        {"TransitionToArchive": "AFTER_180_DAYS"},
        {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
    ]
    backup = efs.describe_backup_policy(FileSystemId=file_system)["BackupPolicy"]["Status"]
    assert backup in ("ENABLED", "ENABLING")
    assert (
        "aws:SecureTransport" in efs.describe_file_system_policy(FileSystemId=file_system)["Policy"]
    )
    [target] = targets(clean_aws, file_system)
    [group] = groups(clean_aws, target)
    [server] = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
    [rule] = server["IpPermissions"]
    assert (rule["FromPort"], rule["ToPort"], rule["IpRanges"]) == (2049, 2049, [])
    [pair] = rule["UserIdGroupPairs"]
    [client] = ec2.describe_security_groups(GroupIds=[pair["GroupId"]])["SecurityGroups"]
    assert client["Description"] == "Nodes that mount the EFS file system train"
    parameter = clean_aws.client("ssm").get_parameter(Name=PARAMETER)["Parameter"]["Value"]
    assert parameter == file_system


def test_a_home_is_kept_and_used_again(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: Callable[[], str]
) -> None:
    deploy("backup: false")
    [made] = clean_aws.client("efs").describe_file_systems()["FileSystems"]
    file_system = made["FileSystemId"]

    said = tear_down()

    # Mount targets go, so that the network may.
    assert there(clean_aws) == set()
    assert targets(clean_aws, file_system) == []
    assert f"storage.efs.existing: {file_system}" in said

    with pytest.raises(DeploymentFailed, match=f"{file_system} was kept when its stack"):
        deploy("backup: false")
    tear_down()

    deploy(f"existing: {file_system}")
    [target] = targets(clean_aws, file_system)
    assert len(groups(clean_aws, target)) == 1
    tear_down()
    assert there(clean_aws) == set()
    assert targets(clean_aws, file_system) == []


def test_a_mount_target_of_somebody_else_gets_a_group_and_loses_it(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: Callable[[], str]
) -> None:
    deploy("backup: false")
    efs = clean_aws.client("efs")
    [made] = efs.describe_file_systems()["FileSystems"]
    [own] = targets(clean_aws, made["FileSystemId"])
    theirs = efs.create_file_system(CreationToken="theirs")["FileSystemId"]
    efs.create_mount_target(FileSystemId=theirs, SubnetId=own["SubnetId"])
    [target] = targets(clean_aws, theirs)
    before = groups(clean_aws, target)
    efs.delete_mount_target(MountTargetId=own["MountTargetId"])
    clean_aws.client("cloudformation").update_termination_protection(
        EnableTerminationProtection=False, StackName="TrainEfs"
    )
    clean_aws.client("cloudformation").delete_stack(StackName="TrainEfs")

    deploy(f"existing: {theirs}")

    assert len(groups(clean_aws, target)) == len(before) + 1
    said = tear_down()
    assert groups(clean_aws, target) == before
    assert there(clean_aws) == {"TrainNetwork"}
    assert f"{theirs} is in it" in said
