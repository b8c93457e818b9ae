"""Offerings and rates of Savings Plans, of a plug-in."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import pytest

from embedded_aws.plugins import Plugin
from embedded_aws.savings_plans import offerings

YEAR = 31_536_000


def offering_id(plan: str, years: int) -> str:
    return str(uuid5(NAMESPACE_DNS, f"{plan} {years}"))


def rate(plan: str, years: int, instance_type: str, usd: str) -> dict[str, Any]:
    properties = {
        "region": "us-west-2",
        "instanceType": instance_type,
        "instanceFamily": instance_type.partition(".")[0],
        "productDescription": "Linux/UNIX",
        "tenancy": "shared",
    }
    return {
        "savingsPlanOffering": {
            "offeringId": offering_id(plan, years),
            "paymentOption": "No Upfront",
            "planType": plan,
            "durationSeconds": years * YEAR,
            "currency": "USD",
            "planDescription": f"{years} year No Upfront {plan} Savings Plan",
        },
        "rate": usd,
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"USW2-BoxUsage:{instance_type}",
        "operation": "RunInstances",
        "properties": [{"name": name, "value": value} for name, value in properties.items()],
    }


class Rates(Plugin):
    """Rates of two types."""

    def savings_plan_rates(self) -> Iterable[Mapping[str, Any]]:
        return [
            rate("Compute", 1, "trn1.32xlarge", "16.0"),
            rate("Compute", 1, "p4d.24xlarge", "15.0"),
            rate("Compute", 3, "trn1.32xlarge", "9.0"),
            rate("EC2Instance", 1, "trn1.32xlarge", "13.0"),
        ]


@pytest.fixture(autouse=True)
def plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offerings, "plugins", lambda: (Rates(),))


@pytest.fixture
def plans(client: Callable[..., Any]) -> Any:
    return client("savingsplans", "us-east-1")


def rates(plans: Any, **asked: Any) -> list[str]:
    found = plans.describe_savings_plans_offering_rates(**asked)["searchResults"]
    return [each["rate"] for each in found]


def test_a_rate_has_its_offering_and_its_properties(plans: Any) -> None:
    found = plans.describe_savings_plans_offering_rates()["searchResults"]

    assert found == [*Rates().savings_plan_rates()]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param({"savingsPlanTypes": ["EC2Instance"]}, ["13.0"], id="type"),
        pytest.param({"products": ["Fargate"]}, [], id="product"),
        pytest.param({"usageTypes": ["USW2-BoxUsage:p4d.24xlarge"]}, ["15.0"], id="usage"),
        pytest.param(
            {"savingsPlanOfferingIds": [offering_id("Compute", 3)]}, ["9.0"], id="offering"
        ),
        pytest.param(
            {"filters": [{"name": "instanceType", "values": ["p4d.24xlarge", "p5.48xlarge"]}]},
            ["15.0"],
            id="property",
        ),
        pytest.param({"filters": [{"name": "tenancy", "values": ["dedicated"]}]}, [], id="none"),
        pytest.param({"maxResults": 3}, ["16.0", "15.0", "9.0"], id="page"),
        pytest.param({"nextToken": "3"}, ["13.0"], id="next-page"),
    ],
)
def test_rates_are_selected(plans: Any, asked: dict[str, Any], found: list[str]) -> None:
    assert rates(plans, **asked) == found


def test_pages_name_the_next_one(plans: Any) -> None:
    first = plans.describe_savings_plans_offering_rates(maxResults=3)
    second = plans.describe_savings_plans_offering_rates(nextToken=first["nextToken"])

    assert "nextToken" not in second


def test_offerings_are_those_of_the_rates(plans: Any) -> None:
    found = plans.describe_savings_plans_offerings()["searchResults"]

    assert [(each["planType"], each["durationSeconds"] // YEAR) for each in found] == [
        ("Compute", 1),
        ("Compute", 3),
        ("EC2Instance", 1),
    ]
    assert found[2] == {
        "offeringId": offering_id("EC2Instance", 1),
        "productTypes": ["EC2"],
        "planType": "EC2Instance",
        "description": "1 year No Upfront EC2Instance Savings Plan",
        "paymentOption": "No Upfront",
        "durationSeconds": YEAR,
        "currency": "USD",
        "properties": [
            {"name": "region", "value": "us-west-2"},
            {"name": "instanceFamily", "value": "trn1"},
        ],
    }


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        pytest.param({"durations": [3 * YEAR]}, 1, id="duration"),
        pytest.param({"planTypes": ["Compute"]}, 2, id="type"),
        pytest.param({"productType": "Fargate"}, 0, id="product"),
        pytest.param({"filters": [{"name": "instanceFamily", "values": ["trn1"]}]}, 1, id="family"),
    ],
)
def test_offerings_are_selected(plans: Any, asked: dict[str, Any], count: int) -> None:
    assert len(plans.describe_savings_plans_offerings(**asked)["searchResults"]) == count


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"savingsPlanTypes": ["Spot"]}, id="type"),
        pytest.param({"nextToken": "x"}, id="token"),
        pytest.param({"maxResults": 1001}, id="page"),
    ],
)
def test_a_wrong_question_is_refused(
    refusal: Callable[..., Any], plans: Any, asked: dict[str, Any]
) -> None:
    refused = refusal(plans.describe_savings_plans_offering_rates, **asked)

    assert refused.code == "ValidationException"


def test_it_is_served_for_all_regions_in_one(
    client: Callable[..., Any], refusal: Callable[..., Any]
) -> None:
    refused = refusal(client("savingsplans", "eu-west-1").describe_savings_plans_offerings)

    assert (refused.code, "served in us-east-1" in refused.message) == ("ValidationException", True)
