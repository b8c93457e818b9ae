"""Spot Instances: their prices, their requests, and what EC2 refuses."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.error import HTTPError

import pytest

from embedded_aws.controls import SPOT_NOTICES_PATH, SPOT_PRICES_PATH
from embedded_aws.embedded import EmbeddedAws

TYPE = "trn1.32xlarge"
ZONE = "usw2-az4"


def test_a_filter_selects_types_as_the_parameter_does(ec2: Any) -> None:
    now = datetime.now(UTC)
    wanted = [{"Name": "instance-type", "Values": ["trn1.32*", "no.such"]}]

    found = ec2.describe_spot_price_history(Filters=wanted, StartTime=now, EndTime=now)

    assert found["SpotPriceHistory"] == history(ec2, StartTime=now, EndTime=now)


@pytest.fixture
def launch(ec2: Any, subnet: str) -> Callable[..., dict[str, Any]]:
    """Describe a launch on Spot with some options."""

    def describe(**options: str) -> dict[str, Any]:
        return {
            "ImageId": "ami-0123456789abcdef0",
            "InstanceType": TYPE,
            "SubnetId": subnet,
            "MinCount": 1,
            "MaxCount": 1,
            "InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": options},
        }

    return describe


def history(ec2: Any, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ec2.describe_spot_price_history(
        InstanceTypes=[TYPE], ProductDescriptions=["Linux/UNIX"], **asked
    )["SpotPriceHistory"]
    return found


def test_the_history_of_thirty_days_begins_with_the_price_at_their_start(ec2: Any) -> None:
    end = datetime.now(UTC)
    start = end - timedelta(days=30)

    found = history(ec2, StartTime=start, EndTime=end, AvailabilityZoneId=ZONE)
    now = history(ec2, StartTime=end, EndTime=end)

    assert len(found) == 31
    assert found[-1]["Timestamp"] <= start < found[-2]["Timestamp"]
    assert len({each["SpotPrice"] for each in found}) > 20
    # One price of each zone that offers the type.
    assert sorted(each["AvailabilityZoneId"] for each in now) == ["usw2-az1", "usw2-az4"]
    assert found[0] in now
    assert history(ec2, StartTime=end, MaxResults=1) == now[:1]
    assert (
        ec2.describe_spot_price_history(InstanceTypes=["trn2u.48xlarge"])["SpotPriceHistory"] == []
    )


def test_a_launch_on_spot_is_a_request_that_goes_on_by_itself(
    ec2: Any, launch: Callable[..., dict[str, Any]], refusal: Callable[..., Any]
) -> None:
    [instance] = ec2.run_instances(**launch(MaxPrice="9.5"))["Instances"]
    request_id = instance["SpotInstanceRequestId"]

    def request() -> dict[str, Any]:
        [found] = ec2.describe_spot_instance_requests(SpotInstanceRequestIds=[request_id])[
            "SpotInstanceRequests"
        ]
        return {"code": found["Status"]["Code"], **found}

    assert instance["InstanceLifecycle"] == "spot"
    assert request()["InstanceId"] == instance["InstanceId"]
    assert (request()["State"], request()["code"]) == ("active", "fulfilled")
    assert (request()["Type"], request()["SpotPrice"]) == ("one-time", "9.5")

    ec2.cancel_spot_instance_requests(SpotInstanceRequestIds=[request_id])
    assert (request()["State"], request()["code"]) == (
        "cancelled",
        "request-canceled-and-instance-running",
    )

    [other] = ec2.run_instances(**launch())["Instances"]
    ec2.terminate_instances(InstanceIds=[other["InstanceId"]])
    request_id = other["SpotInstanceRequestId"]
    assert (request()["State"], request()["code"]) == ("closed", "instance-terminated-by-user")
    assert (
        refusal(ec2.cancel_spot_instance_requests, SpotInstanceRequestIds=["sir-00000000"]).code
        == "InvalidSpotInstanceRequestID.NotFound"
    )


def test_requests_of_launches_are_there_beside_those_of_spot_fleets(
    ec2: Any, launch: Callable[..., dict[str, Any]]
) -> None:
    asked = {"ImageId": "ami-0123456789abcdef0", "InstanceType": "t3.micro"}
    own = ec2.request_spot_instances(SpotPrice="1", LaunchSpecification=asked)
    [instance] = ec2.run_instances(**launch())["Instances"]

    for request_id in (
        own["SpotInstanceRequests"][0]["SpotInstanceRequestId"],
        instance["SpotInstanceRequestId"],
    ):
        [found] = ec2.describe_spot_instance_requests(SpotInstanceRequestIds=[request_id])[
            "SpotInstanceRequests"
        ]
        assert found["SpotInstanceRequestId"] == request_id


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        pytest.param({"MaxPrice": "0.001"}, "InvalidParameterValue", "more than 0.001", id="low"),
        pytest.param(
            {"MaxPrice": "0.5"},
            "SpotMaxPriceTooLow",
            "Your Spot request price of 0.5 is lower than the minimum required",
            id="below the price",
        ),
        pytest.param(
            {"SpotInstanceType": "persistent"},
            "InvalidParameterCombination",
            "only when the instance interruption behavior is stop or hibernate",
            id="persistent",
        ),
    ],
)
def test_a_launch_on_spot_is_refused(
    ec2: Any,
    launch: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
    options: dict[str, str],
    code: str,
    words: str,
) -> None:
    refused = refusal(ec2.run_instances, **launch(**options))

    assert refused.code == code
    assert words in refused.message


def test_one_type_alone_has_a_low_score_in_each_zone_that_offers_it(ec2: Any) -> None:
    asked = {"InstanceTypes": [TYPE], "TargetCapacity": 4, "RegionNames": ["us-west-2"]}

    zones = ec2.get_spot_placement_scores(**asked, SingleAvailabilityZone=True)
    [region] = ec2.get_spot_placement_scores(**asked)["SpotPlacementScores"]

    scores = {each["AvailabilityZoneId"]: each["Score"] for each in zones["SpotPlacementScores"]}
    assert scores.keys() == {"usw2-az1", "usw2-az4"}
    assert all(1 <= score <= 4 for score in scores.values())
    assert region == {"Region": "us-west-2", "Score": max(scores.values())}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (SPOT_NOTICES_PATH, {}, "not a list of notices"),
        (SPOT_NOTICES_PATH, [{"instance": "i-1"}], "an object with instance and notice"),
        (SPOT_NOTICES_PATH, [{"instance": "i-1", "notice": "x"}], "interruption or rebalance"),
        (SPOT_NOTICES_PATH, [{"instance": "i-1", "notice": "rebalance"}], "no running instance"),
        (
            SPOT_NOTICES_PATH,
            [{"instance": "i-1", "notice": "interruption", "seconds": -1}],
            "a number from 0 to 3600",
        ),
        (SPOT_PRICES_PATH, {"trn1.32xlarge": -1}, "not an object of prices"),
        (SPOT_PRICES_PATH, {"trn1.31xlarge": 1}, "trn1.31xlarge"),
    ],
)
def test_a_control_says_what_it_does_not_take(
    clean_aws: EmbeddedAws, path: str, value: object, words: str
) -> None:
    with pytest.raises(HTTPError) as refused:
        clean_aws.settings.controls.post(path, value)

    assert words in refused.value.read().decode()
