"""Generated names."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.resource import Request


def request_of(stack: str, logical_id: str) -> Request:
    client: Callable[[str], Any] = dict[str, Any]().__getitem__
    return Request(
        resource_type="AWS::IAM::Role",
        logical_id=logical_id,
        properties={},
        stack_name=stack,
        stack_id="",
        account="123456789012",
        region="us-west-2",
        tags={},
        client=client,
    )


def test_a_name_says_stack_and_resource() -> None:
    name = generated_name(request_of("TrainCluster", "NodeRole"), limit=64)

    assert re.fullmatch(r"TrainCluster-NodeRole-[A-Z0-9]{12}", name)


def test_every_name_is_another_one() -> None:
    request = request_of("TrainCluster", "NodeRole")

    assert generated_name(request, limit=64) != generated_name(request, limit=64)


@pytest.mark.parametrize(
    ("stack", "logical_id"),
    [("S" * 100, "L" * 100), ("S" * 100, "L"), ("S", "L" * 100)],
)
def test_a_name_is_cut_to_the_limit_and_shows_both(stack: str, logical_id: str) -> None:
    name = generated_name(request_of(stack, logical_id), limit=64)

    assert len(name) <= 64
    assert re.fullmatch(r"S+-L+-[A-Z0-9]{12}", name)
