"""CreateFleet of type instant."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def fleet(ec2: Any, name: str, subnet: str) -> Callable[..., dict[str, Any]]:
    """Describe a fleet of one instance of a type, from a template with user data."""
    ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={"ImageId": "ami-0123456789abcdef0", "UserData": "IyEvYmluL3NoCg=="},
    )

    def describe(*types: str, market: str = "spot") -> dict[str, Any]:
        return {
            "Type": "instant",
            "LaunchTemplateConfigs": [
                {
                    "LaunchTemplateSpecification": {"LaunchTemplateName": name, "Version": "1"},
                    "Overrides": [{"InstanceType": each, "SubnetId": subnet} for each in types],
                }
            ],
            "TargetCapacitySpecification": {
                "TotalTargetCapacity": 1,
                "DefaultTargetCapacityType": market,
            },
        }

    return describe


@pytest.mark.parametrize("market", ["spot", "on-demand"])
def test_a_fleet_launches_one_of_its_types(
    ec2: Any, fleet: Callable[..., dict[str, Any]], market: str
) -> None:
    answer = ec2.create_fleet(**fleet("m6i.large", market=market))

    [ids] = [each["InstanceIds"] for each in answer["Instances"]]
    [found] = ec2.describe_instances(InstanceIds=ids)["Reservations"][0]["Instances"]
    assert found["InstanceType"] == "m6i.large"


@pytest.mark.parametrize(
    ("instance_type", "code"),
    [("m6i.gigantic", "InvalidParameterValue"), ("trn2.48xlarge", "Unsupported")],
)
def test_a_fleet_is_as_strict_as_a_launch(
    ec2: Any,
    fleet: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
    instance_type: str,
    code: str,
) -> None:
    assert refusal(ec2.create_fleet, **fleet("m6i.large", instance_type)).code == code
