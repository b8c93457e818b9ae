"""AMIs: what they were made of, who may touch them, and which public ones exist."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

CANONICAL = "099720109477"
UBUNTU = "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20260731"
NOBLE = "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260714"


def named(ec2: Any, name: str, owner: str) -> list[dict[str, Any]]:
    answer = ec2.describe_images(Owners=[owner], Filters=[{"Name": "name", "Values": [name]}])
    found: list[dict[str, Any]] = answer["Images"]
    return found


@pytest.fixture
def instance(ec2: Any, subnet: str) -> str:
    answer = ec2.run_instances(
        ImageId=named(ec2, UBUNTU, CANONICAL)[0]["ImageId"],
        InstanceType="m6i.large",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet,
        BlockDeviceMappings=[
            {
                "DeviceName": "/dev/sda1",
                "Ebs": {"VolumeSize": 40, "Encrypted": True, "Throughput": 250, "Iops": 4000},
            },
            {"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 7, "VolumeType": "gp2"}},
        ],
    )
    return str(answer["Instances"][0]["InstanceId"])


@pytest.fixture
def ami(ec2: Any, instance: str) -> str:
    return str(ec2.create_image(InstanceId=instance, Name=f"ours-{uuid4()}")["ImageId"])


def described(ec2: Any, ami: str) -> dict[str, Any]:
    found: dict[str, Any] = ec2.describe_images(ImageIds=[ami])["Images"][0]
    return found


@pytest.mark.parametrize(
    ("name", "owner", "root"),
    [
        (UBUNTU, CANONICAL, "/dev/sda1"),
        (
            "ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20260731",
            CANONICAL,
            "/dev/sda1",
        ),
        (NOBLE, CANONICAL, "/dev/sda1"),
        (
            "ubuntu-eks/k8s_1.33/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20250625",
            CANONICAL,
            "/dev/sda1",
        ),
        ("al2023-ami-2023.12.20260930.0-kernel-6.18-x86_64", "amazon", "/dev/xvda"),
        ("al2023-ami-ecs-hvm-2023.0.20260901-kernel-6.1-x86_64", "591542846629", "/dev/xvda"),
        ("amazon-eks-node-al2023-x86_64-standard-1.36-v20261003", "602401143452", "/dev/xvda"),
    ],
)
def test_a_published_ami_is_found_by_name_and_owner(
    ec2: Any, name: str, owner: str, root: str
) -> None:
    [found] = named(ec2, name, owner)

    assert (found["Name"], found["RootDeviceName"], found["Public"]) == (name, root, True)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        pytest.param(UBUNTU, "123456789012", id="another owner"),
        pytest.param(UBUNTU.replace("20260731", "20991231"), CANONICAL, id="not yet"),
        pytest.param(UBUNTU.replace("20260731", "20261399"), CANONICAL, id="no day"),
        pytest.param(UBUNTU.replace("jammy-22.04", "jammy-23.04"), CANONICAL, id="no release"),
        # Since 23.10 there are none on gp2.
        pytest.param(NOBLE.replace("hvm-ssd-gp3", "hvm-ssd"), CANONICAL, id="no volume type"),
    ],
)
def test_what_its_owner_never_published_is_not_found(ec2: Any, name: str, owner: str) -> None:
    assert named(ec2, name, owner) == []


def test_a_launch_joins_the_mappings_of_ami_and_request(ec2: Any, instance: str) -> None:
    attached = [{"Name": "attachment.instance-id", "Values": [instance]}]
    volumes = ec2.describe_volumes(Filters=attached)["Volumes"]

    found = {volume["Attachments"][0]["Device"]: volume for volume in volumes}
    root = found["/dev/sda1"]
    assert (root["Size"], root["VolumeType"], root["Encrypted"]) == (40, "gp3", True)
    assert (root["Iops"], root["Throughput"]) == (4000, 250)
    assert (found["/dev/sdf"]["Size"], found["/dev/sdf"]["VolumeType"]) == (7, "gp2")


def test_a_volume_is_no_smaller_than_its_snapshot(
    ec2: Any, subnet: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(
        ec2.run_instances,
        ImageId=named(ec2, UBUNTU, CANONICAL)[0]["ImageId"],
        InstanceType="m6i.large",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet,
        BlockDeviceMappings=[{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 4}}],
    )

    assert refused.code == "InvalidBlockDeviceMapping"
    assert "expect size >= 8GB" in refused.message


def test_an_ami_has_a_snapshot_of_every_volume(ec2: Any, instance: str) -> None:
    ami = ec2.create_image(
        InstanceId=instance,
        Name=f"tagged-{uuid4()}",
        TagSpecifications=[
            {"ResourceType": kind, "Tags": [{"Key": "of", "Value": kind}]}
            for kind in ("image", "snapshot")
        ],
    )["ImageId"]

    found = described(ec2, ami)
    ids = [mapping["Ebs"]["SnapshotId"] for mapping in found["BlockDeviceMappings"]]
    snapshots = ec2.describe_snapshots(SnapshotIds=ids)["Snapshots"]
    assert {(each["VolumeSize"], each["Encrypted"]) for each in snapshots} == {
        (40, True),
        (7, False),
    }
    assert found["Tags"] == [{"Key": "of", "Value": "image"}]
    assert all(each["Tags"] == [{"Key": "of", "Value": "snapshot"}] for each in snapshots)


def test_an_ami_may_leave_a_device_out(ec2: Any, instance: str) -> None:
    ami = ec2.create_image(
        InstanceId=instance,
        Name=f"root-only-{uuid4()}",
        BlockDeviceMappings=[{"DeviceName": "/dev/sdf", "NoDevice": ""}],
    )["ImageId"]

    mappings = described(ec2, ami)["BlockDeviceMappings"]
    assert [mapping["DeviceName"] for mapping in mappings] == ["/dev/sda1"]


def test_a_name_is_taken_once(ec2: Any, instance: str, refusal: Callable[..., Any]) -> None:
    name = f"once-{uuid4()}"
    first = ec2.create_image(InstanceId=instance, Name=name)["ImageId"]

    refused = refusal(ec2.create_image, InstanceId=instance, Name=name)

    assert refused.code == "InvalidAMIName.Duplicate"
    assert first in refused.message


def test_a_copy_may_be_encrypted(ec2: Any, ami: str) -> None:
    copy = ec2.copy_image(
        Name=f"copy-{uuid4()}", SourceImageId=ami, SourceRegion="us-west-2", Encrypted=True
    )["ImageId"]

    mappings = described(ec2, copy)["BlockDeviceMappings"]
    assert [(each["Ebs"]["VolumeSize"], each["Ebs"]["Encrypted"]) for each in mappings] == [
        (40, True),
        (7, True),
    ]


def test_a_snapshot_of_an_ami_stays_while_the_ami_does(
    ec2: Any, ami: str, refusal: Callable[..., Any]
) -> None:
    snapshot = described(ec2, ami)["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"]

    assert refusal(ec2.delete_snapshot, SnapshotId=snapshot).code == "InvalidSnapshot.InUse"

    ec2.deregister_image(ImageId=ami)
    ec2.delete_snapshot(SnapshotId=snapshot)


def test_own_snapshots_are_reported_from_everybodys(ec2: Any, ami: str) -> None:
    snapshot = described(ec2, ami)["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"]

    own = ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]

    assert snapshot in [each["SnapshotId"] for each in own]
    assert {each["OwnerId"] for each in own} == {"123456789012"}


def test_a_protected_ami_cannot_be_deregistered(
    ec2: Any, ami: str, refusal: Callable[..., Any]
) -> None:
    ec2.enable_image_deregistration_protection(ImageId=ami)

    assert refusal(ec2.deregister_image, ImageId=ami).code == "OperationNotPermitted"
    assert described(ec2, ami)["DeregistrationProtection"] == "enabled-without-cooldown"

    ec2.disable_image_deregistration_protection(ImageId=ami)
    ec2.deregister_image(ImageId=ami)


def test_an_ami_can_be_deprecated_for_a_time_to_come(
    ec2: Any, ami: str, refusal: Callable[..., Any]
) -> None:
    later = datetime.now(UTC) + timedelta(days=90)

    ec2.enable_image_deprecation(ImageId=ami, DeprecateAt=later)

    assert described(ec2, ami)["DeprecationTime"] == later.strftime("%Y-%m-%dT%H:%M:00.000Z")
    past = refusal(
        ec2.enable_image_deprecation, ImageId=ami, DeprecateAt=later - timedelta(days=99)
    )
    assert past.code == "InvalidParameterValue"
    ec2.disable_image_deprecation(ImageId=ami)
    assert "DeprecationTime" not in described(ec2, ami)


def test_attributes_of_an_ami_change(ec2: Any, ami: str) -> None:
    ec2.modify_image_attribute(ImageId=ami, Description={"Value": "new"})
    ec2.modify_image_attribute(ImageId=ami, ImdsSupport={"Value": "v2.0"})
    ec2.modify_image_attribute(ImageId=ami, LaunchPermission={"Add": [{"UserId": "210987654321"}]})

    found = described(ec2, ami)
    assert (found["Description"], found["ImdsSupport"]) == ("new", "v2.0")
    permissions = ec2.describe_image_attribute(ImageId=ami, Attribute="launchPermission")
    assert permissions["LaunchPermissions"] == [{"UserId": "210987654321"}]


def test_somebody_elses_ami_is_not_ours_to_change(ec2: Any, refusal: Callable[..., Any]) -> None:
    public = named(ec2, UBUNTU, CANONICAL)[0]["ImageId"]

    assert refusal(ec2.deregister_image, ImageId=public).code == "AuthFailure"
