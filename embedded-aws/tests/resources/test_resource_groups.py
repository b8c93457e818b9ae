"""Resource groups through their handler."""

from typing import Any

import pytest

from embedded_aws.cloudformation.resource import HandlerError

TYPE = "AWS::ResourceGroups::Group"
POOL = [{"Type": "AWS::EC2::CapacityReservationPool"}]
TAG = {"Key": "team", "Value": "speech"}


@pytest.fixture
def reservations(client: Any) -> list[str]:
    """ARNs of three capacity reservations."""
    return [
        client("ec2").create_capacity_reservation(
            InstanceType="trn1.32xlarge",
            InstancePlatform="Linux/UNIX",
            InstanceCount=1,
            AvailabilityZoneId="usw2-az4",
        )["CapacityReservation"]["CapacityReservationArn"]
        for _ in range(3)
    ]


def _members(client: Any, group: str) -> list[str]:
    found = client("resource-groups").list_group_resources(Group=group)["ResourceIdentifiers"]
    return [each["ResourceArn"] for each in found]


def test_a_pool_has_the_reservations_of_its_template(
    client: Any, deploy: Any, reservations: list[str]
) -> None:
    first, second, third = reservations
    group = deploy(TYPE, Name="Pool", Configuration=POOL, Resources=[first, second], Tags=[TAG])
    arn = group.attributes["Arn"]
    before = _members(client, arn)

    group.update("Tags", Resources=[second, third])

    after = _members(client, arn)
    groups = client("resource-groups")
    tags = groups.get_tags(Arn=arn)["Tags"]
    group.delete()
    group.delete()
    left = [each["GroupArn"] for each in groups.list_groups()["GroupIdentifiers"]]
    assert (group.ref, arn.split(":")[3]) == ("Pool", "us-west-2")
    assert (before, after) == ([first, second], [second, third])
    assert "team" not in tags
    assert arn not in left


def test_a_pool_is_not_made_with_a_reservation_that_is_not_there(
    client: Any, deploy: Any, reservations: list[str]
) -> None:
    gone = f"{reservations[0][:-17]}00000000000000000"

    with pytest.raises(HandlerError, match="is no capacity reservation of this region"):
        deploy(TYPE, Name="NoPool", Configuration=POOL, Resources=[reservations[0], gone])

    groups = client("resource-groups").list_groups()["GroupIdentifiers"]
    assert "NoPool" not in [each["GroupName"] for each in groups]
