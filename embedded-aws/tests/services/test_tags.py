"""Tags in requests to EC2."""

from collections.abc import Callable
from typing import Any

import pytest

TWICE = [{"Key": "Team", "Value": "a"}, {"Key": "Team", "Value": "b"}]


def specification(kind: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": TWICE}]


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        pytest.param(
            "create_vpc",
            {"CidrBlock": "10.0.0.0/16", "TagSpecifications": specification("vpc")},
            id="made-by-moto",
        ),
        pytest.param(
            "create_placement_group",
            {"TagSpecifications": specification("placement-group")},
            id="made-by-us",
        ),
    ],
)
def test_a_key_comes_once_in_a_creation(
    ec2: Any, refusal: Callable[..., Any], operation: str, parameters: dict[str, Any]
) -> None:
    refused = refusal(getattr(ec2, operation), **parameters)

    assert refused.code == "InvalidParameterValue"
    assert refused.message == "Duplicate tag key 'Team' specified."


def test_a_key_comes_once_in_create_tags(ec2: Any, refusal: Callable[..., Any], vpc: str) -> None:
    refused = refusal(ec2.create_tags, Resources=[vpc], Tags=TWICE)

    assert refused.message == "Duplicate tag key 'Team' specified."
