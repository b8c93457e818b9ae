"""Instance types and where they are offered, today and as of an earlier day."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from embedded_aws import services
from embedded_aws.settings import ServerSettings

WITHDRAWN = ["dl1.24xlarge", "p3.2xlarge", "p3.8xlarge", "p3.16xlarge"]


@pytest.fixture
def as_of(endpoint: str) -> Iterator[Callable[[date], None]]:
    """Show the AWS of another day, for this test."""
    yield lambda day: services.install(ServerSettings(as_of=day))
    services.install()


def offered(ec2: Any, instance_type: str, location_type: str) -> list[str]:
    offerings = ec2.describe_instance_type_offerings(
        LocationType=location_type,
        Filters=[{"Name": "instance-type", "Values": [instance_type]}],
    )["InstanceTypeOfferings"]
    return sorted(offering["Location"] for offering in offerings)


@pytest.mark.parametrize("instance_type", WITHDRAWN)
def test_withdrawn_types_do_not_exist_today(
    ec2: Any, refusal: Callable[..., Any], instance_type: str
) -> None:
    refused = refusal(ec2.describe_instance_types, InstanceTypes=[instance_type])

    assert refused.code == "InvalidInstanceType"
    assert f"[{instance_type}]" in refused.message
    assert offered(ec2, instance_type, "region") == []


def test_dl1_exists_before_the_day_it_vanished(
    ec2: Any, as_of: Callable[[date], None], refusal: Callable[..., Any]
) -> None:
    as_of(date(2026, 6, 1))

    record = ec2.describe_instance_types(InstanceTypes=["dl1.24xlarge"])["InstanceTypes"][0]

    assert record["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"] == 4
    assert offered(ec2, "dl1.24xlarge", "availability-zone-id") == ["usw2-az1"]
    assert offered(ec2, "dl1.24xlarge", "availability-zone") == ["us-west-2b"]
    # P3 went two months earlier.
    assert refusal(ec2.describe_instance_types, InstanceTypes=["p3.16xlarge"]).code == (
        "InvalidInstanceType"
    )


def test_p3_exists_before_the_day_it_vanished(ec2: Any, as_of: Callable[[date], None]) -> None:
    as_of(date(2026, 3, 1))

    found = ec2.describe_instance_types(InstanceTypes=["p3.16xlarge", "dl1.24xlarge"])

    assert len(found["InstanceTypes"]) == 2


def test_zone_names_follow_from_zone_ids(ec2: Any) -> None:
    zones = ec2.describe_availability_zones()["AvailabilityZones"]
    names = {zone["ZoneId"]: zone["ZoneName"] for zone in zones}

    ids = offered(ec2, "trn1.32xlarge", "availability-zone-id")

    assert ids == ["usw2-az1", "usw2-az4"]
    assert offered(ec2, "trn1.32xlarge", "availability-zone") == sorted(names[i] for i in ids)
    assert offered(ec2, "trn1.32xlarge", "region") == ["us-west-2"]


def test_only_types_of_the_region_are_described(ec2: Any, refusal: Callable[..., Any]) -> None:
    refused = refusal(ec2.describe_instance_types, InstanceTypes=["trn2.48xlarge"])

    assert refused.code == "InvalidInstanceType"


def test_filters_of_records_work(ec2: Any) -> None:
    found = ec2.describe_instance_types(
        InstanceTypes=["trn1.32xlarge", "g5.xlarge"],
        Filters=[{"Name": "network-info.efa-supported", "Values": ["true"]}],
    )["InstanceTypes"]

    assert [record["InstanceType"] for record in found] == ["trn1.32xlarge"]
