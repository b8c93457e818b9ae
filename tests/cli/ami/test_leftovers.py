"""What a dead build leaves beside its instance: volumes, and roles of Session Manager."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainshed.ami.leftovers import logged_leftovers, remove_leftover, tagged_leftovers
from trainshed.aws import Region

WEST = "us-west-2"
TAGS = [
    {"Key": "trainshed:role", "Value": "ami-builder"},
    {"Key": "trainshed:build", "Value": "20261101T120000Z"},
]


@pytest.fixture
def region(account: Any) -> Region:
    return Region(WEST)


def make_profile(account: Any, name: str) -> str:
    """Make what Packer makes for an instance that is reached by Session Manager."""
    iam = account.aws.client("iam")
    iam.create_role(
        RoleName=name,
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": []}),
    )
    allowed = {"Effect": "Allow", "Action": "ssm:UpdateInstanceInformation", "Resource": "*"}
    iam.put_role_policy(
        RoleName=name,
        PolicyName=name,
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allowed]}),
    )
    iam.create_instance_profile(InstanceProfileName=name)
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
    return name


def profiles(account: Any) -> list[str]:
    found = account.aws.client("iam").list_instance_profiles()["InstanceProfiles"]
    return [profile["InstanceProfileName"] for profile in found]


def find(region: Region) -> list[Any]:
    return tagged_leftovers(region, now=datetime.now(UTC), older_than=timedelta(hours=3))


def test_a_temporary_profile_goes_with_its_instance_and_other_profiles_stay(
    account: Any, region: Region
) -> None:
    for name in ("packer-6b004cfc", "nodes"):
        account.launch(
            account.stock_image(),
            IamInstanceProfile={"Name": make_profile(account, name)},
            TagSpecifications=[{"ResourceType": "instance", "Tags": TAGS}],
        )

    for leftover in find(region):
        remove_leftover(region, leftover)

    assert set(account.instances().values()) == {"terminated"}
    assert profiles(account) == ["nodes"]
    roles = account.aws.client("iam").list_roles()["Roles"]
    assert "packer-6b004cfc" not in {role["RoleName"] for role in roles}


def test_a_volume_that_hangs_on_nothing_is_found_and_an_attached_one_is_not(
    account: Any, region: Region
) -> None:
    specification = [{"ResourceType": "volume", "Tags": TAGS}]
    ec2 = account.aws.client("ec2")
    volume = ec2.create_volume(
        AvailabilityZone="us-west-2a", Size=1, TagSpecifications=specification
    )["VolumeId"]
    account.launch(account.stock_image(), TagSpecifications=specification)

    found = find(region)
    for leftover in found:
        remove_leftover(region, leftover)

    assert [leftover.name for leftover in found] == [volume]


def test_removing_what_is_gone_is_no_error(account: Any, region: Region) -> None:
    volume = account.aws.client("ec2").create_volume(
        AvailabilityZone="us-west-2a",
        Size=1,
        TagSpecifications=[{"ResourceType": "volume", "Tags": TAGS}],
    )["VolumeId"]
    (leftover,) = find(region)
    account.aws.client("ec2").delete_volume(VolumeId=volume)

    remove_leftover(region, leftover)

    assert find(region) == []


def test_an_unfinished_image_goes_with_its_snapshot(account: Any, region: Region) -> None:
    image, other = account.image("unfinished", tags={}), account.image("somebody's", tags={})
    log = (
        "2026-11-20T13:37:00Z:     amazon-ebs.ami: Found Image ID: ami-0d53cc9bd365ad65b\n"
        f"2026-11-20T13:37:09Z:     amazon-ebs.ami: AMI: {image}\n"
        "2026-11-20T13:37:09Z: ==> amazon-ebs.ami: Waiting for AMI to become ready...\n"
    )

    for leftover in logged_leftovers(region, log):
        remove_leftover(region, leftover)

    assert account.image_ids() == {other}
    found = account.aws.client("ec2").describe_snapshots(OwnerIds=["self"])["Snapshots"]
    assert not [one for one in found if image in one["Description"]]


def test_a_log_with_an_end_shows_nothing_left(account: Any, region: Region) -> None:
    name = make_profile(account, "packer-6b004cfc")
    making = (
        "2026-11-20T13:37:00Z: ==> amazon-ebs.ami: Creating temporary instance profile for this "
        f"instance: {name}\n"
    )

    unfinished = logged_leftovers(region, making)
    finished = logged_leftovers(
        region, making + "2026-11-20T13:37:05Z: Build 'amazon-ebs.ami' errored after 5 seconds\n"
    )

    assert [str(leftover) for leftover in unfinished] == [f"instance profile {name}"]
    assert finished == []
