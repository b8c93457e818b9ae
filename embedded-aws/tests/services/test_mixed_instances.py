"""Auto Scaling groups of several instance types: the order in which they are tried, and Spot."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from amis import AMAZON_LINUX

from embedded_aws.faults import Fault
from embedded_aws.faults_of_calls import faults

FIRST, SECOND = "trn1.2xlarge", "inf2.xlarge"
ON_DEMAND = {
    "OnDemandAllocationStrategy": "prioritized",
    "OnDemandPercentageAboveBaseCapacity": 100,
}
SPOT = {
    "OnDemandPercentageAboveBaseCapacity": 0,
    "SpotAllocationStrategy": "capacity-optimized-prioritized",
}


@pytest.fixture
def autoscaling(client: Callable[..., Any]) -> Any:
    return client("autoscaling")


@pytest.fixture
def template(ec2: Any, name: str) -> Callable[..., dict[str, str]]:
    """Create the launch template of the group, with more data, and return its specification."""

    def create(**data: Any) -> dict[str, str]:
        ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"ImageId": AMAZON_LINUX, **data}
        )
        return {"LaunchTemplateName": name, "Version": "1"}

    return create


@pytest.fixture
def group(template: Callable[..., dict[str, str]], name: str, subnet: str) -> Callable[..., Any]:
    """Describe a group of two instances of two types."""

    def describe(
        *types: str, distribution: Any = ON_DEMAND, overrides: Any = None, **data: Any
    ) -> dict[str, Any]:
        listed = [{"InstanceType": each} for each in types or (FIRST, SECOND)]
        return {
            "AutoScalingGroupName": name,
            "MinSize": 0,
            "MaxSize": 4,
            "DesiredCapacity": 2,
            "VPCZoneIdentifier": subnet,
            "MixedInstancesPolicy": {
                "LaunchTemplate": {
                    "LaunchTemplateSpecification": template(**data),
                    "Overrides": overrides or listed,
                },
                "InstancesDistribution": distribution,
            },
        }

    return describe


@pytest.fixture
def lacking() -> Iterator[Callable[..., None]]:
    """Let launches of some types fail, all or the first so many."""

    def begin(*types: str, count: int | None = None) -> None:
        faults.set(
            [
                Fault(
                    service="ec2",
                    operation="RunInstances",
                    code="InsufficientInstanceCapacity",
                    message=f"We currently do not have sufficient {each} capacity.",
                    count=count,
                    when={"InstanceType": each},
                )
                for each in types
            ]
        )

    yield begin
    faults.set([])


def described(autoscaling: Any, name: str) -> dict[str, Any]:
    [found] = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])[
        "AutoScalingGroups"
    ]
    return dict(found)


def types(autoscaling: Any, name: str) -> list[str]:
    return [each["InstanceType"] for each in described(autoscaling, name)["Instances"]]


def test_the_first_type_is_launched_while_there_is_capacity(
    autoscaling: Any, ec2: Any, name: str, group: Callable[..., Any]
) -> None:
    autoscaling.create_auto_scaling_group(**group())

    found = described(autoscaling, name)
    policy = found["MixedInstancesPolicy"]["LaunchTemplate"]
    [instance] = ec2.describe_instances(InstanceIds=[found["Instances"][0]["InstanceId"]])[
        "Reservations"
    ][0]["Instances"]
    assert types(autoscaling, name) == [FIRST, FIRST]
    assert instance["InstanceType"] == FIRST and "InstanceLifecycle" not in instance
    assert "LaunchTemplate" not in found
    assert policy["LaunchTemplateSpecification"]["LaunchTemplateId"].startswith("lt-")


def test_the_next_type_is_launched_for_what_the_first_lacks(
    autoscaling: Any, name: str, group: Callable[..., Any], lacking: Callable[..., None]
) -> None:
    lacking(FIRST, count=1)

    autoscaling.create_auto_scaling_group(**group())

    assert types(autoscaling, name) == [SECOND, FIRST]


def test_without_capacity_of_any_type_the_launch_fails_in_the_words_of_the_last(
    autoscaling: Any, name: str, group: Callable[..., Any], lacking: Callable[..., None]
) -> None:
    lacking(FIRST, SECOND)

    autoscaling.create_auto_scaling_group(**group())

    [failed] = autoscaling.describe_scaling_activities(AutoScalingGroupName=name)["Activities"]
    assert types(autoscaling, name) == []
    assert f"sufficient {SECOND} capacity" in failed["StatusMessage"]


def test_spot_instances_are_asked_for_by_the_policy(
    autoscaling: Any, ec2: Any, name: str, group: Callable[..., Any]
) -> None:
    autoscaling.create_auto_scaling_group(**group(distribution=SPOT))

    ids = [each["InstanceId"] for each in described(autoscaling, name)["Instances"]]
    found = ec2.describe_instances(InstanceIds=ids)["Reservations"]
    assert [each["Instances"][0]["InstanceLifecycle"] for each in found] == ["spot", "spot"]


def test_on_spot_the_cheapest_type_is_launched_where_the_strategy_asks_for_it(
    autoscaling: Any, ec2: Any, name: str, group: Callable[..., Any], subnet: str
) -> None:
    [there] = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]
    asked = {"AvailabilityZone": there["AvailabilityZone"], "StartTime": datetime.now(UTC)}
    prices = {
        each: ec2.describe_spot_price_history(InstanceTypes=[each], **asked)["SpotPriceHistory"]
        for each in (FIRST, SECOND)
    }
    cheapest, dearest = sorted(prices, key=lambda each: float(prices[each][0]["SpotPrice"]))
    distribution = {**SPOT, "SpotAllocationStrategy": "price-capacity-optimized"}

    autoscaling.create_auto_scaling_group(**group(dearest, cheapest, distribution=distribution))

    assert types(autoscaling, name) == [cheapest, cheapest]


def test_a_group_changes_between_one_type_and_several(
    autoscaling: Any, name: str, group: Callable[..., Any]
) -> None:
    given = group(InstanceType="trn1.2xlarge")
    policy = given.pop("MixedInstancesPolicy")
    template = policy["LaunchTemplate"]["LaunchTemplateSpecification"]
    autoscaling.create_auto_scaling_group(**given, LaunchTemplate=template)

    autoscaling.update_auto_scaling_group(AutoScalingGroupName=name, MixedInstancesPolicy=policy)
    several = described(autoscaling, name)
    autoscaling.update_auto_scaling_group(AutoScalingGroupName=name, LaunchTemplate=template)
    one = described(autoscaling, name)

    assert ("LaunchTemplate" in several, "MixedInstancesPolicy" in several) == (False, True)
    assert ("LaunchTemplate" in one, "MixedInstancesPolicy" in one) == (True, False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param(
            {"InstanceMarketOptions": {"MarketType": "spot"}},
            "You cannot use a launch template that is set to request Spot Instances",
            id="spot-in-the-template",
        ),
        pytest.param(
            {"distribution": {"OnDemandPercentageAboveBaseCapacity": 50}},
            "OnDemandPercentageAboveBaseCapacity 50",
            id="share",
        ),
        pytest.param(
            {"distribution": {"OnDemandAllocationStrategy": "lowest-price"}},
            "OnDemandAllocationStrategy lowest-price",
            id="strategy",
        ),
        pytest.param(
            {"distribution": {"OnDemandPercentageAboveBaseCapacity": 0}},
            "SpotAllocationStrategy lowest-price",
            id="default-of-spot",
        ),
        pytest.param(
            {"distribution": {"OnDemandBaseCapacity": 1}}, "OnDemandBaseCapacity 1", id="base"
        ),
        pytest.param(
            {"overrides": [{"InstanceType": FIRST, "WeightedCapacity": "2"}]},
            "overrides of WeightedCapacity",
            id="weight",
        ),
        pytest.param(
            {"overrides": [{"InstanceType": FIRST}, {"InstanceType": "trn9.xlarge"}]},
            "You must use a valid fully-formed launch template",
            id="type",
        ),
        pytest.param(
            {"overrides": [{"InstanceType": FIRST}] * 41}, "at most 40 overrides", id="too-many"
        ),
    ],
)
def test_what_is_not_followed_or_not_taken_is_refused(
    autoscaling: Any,
    group: Callable[..., Any],
    refusal: Callable[..., Any],
    changes: dict[str, Any],
    words: str,
) -> None:
    assert words in refusal(autoscaling.create_auto_scaling_group, **group(**changes)).message


def test_a_group_has_a_template_or_a_policy(
    autoscaling: Any, group: Callable[..., Any], refusal: Callable[..., Any]
) -> None:
    given = group()
    template = given["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]

    refused = refusal(autoscaling.create_auto_scaling_group, **given, LaunchTemplate=template)

    assert "must contain either LaunchTemplate" in refused.message
