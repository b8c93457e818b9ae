"""EC2 accelerator quotas."""

from collections.abc import Callable
from typing import Any

import pytest

TRN = {"ServiceCode": "ec2", "QuotaCode": "L-2C3B7624"}


@pytest.fixture
def quotas(client: Callable[..., Any]) -> Any:
    # Another region than the other tests': a raised quota stays.
    return client("service-quotas", "us-east-2")


def test_a_quota_is_zero_until_it_is_raised(quotas: Any, refusal: Callable[..., Any]) -> None:
    before = quotas.get_service_quota(**TRN)["Quota"]

    asked = quotas.request_service_quota_increase(**TRN, DesiredValue=2048)["RequestedQuota"]
    lower = refusal(quotas.request_service_quota_increase, **TRN, DesiredValue=128)

    assert (before["QuotaName"], before["Value"]) == ("Running On-Demand Trn instances", 0)
    assert asked["Status"] == "APPROVED"
    assert quotas.get_service_quota(**TRN)["Quota"]["Value"] == 2048
    assert quotas.get_aws_default_service_quota(**TRN)["Quota"]["Value"] == 0
    assert "must be greater than" in lower.message


def test_an_unknown_quota_is_refused(quotas: Any, refusal: Callable[..., Any]) -> None:
    refused = refusal(quotas.get_service_quota, ServiceCode="ec2", QuotaCode="L-00000000")

    assert refused.code == "NoSuchResourceException"


def test_other_services_keep_their_quotas(quotas: Any) -> None:
    found = quotas.get_service_quota(ServiceCode="vpc", QuotaCode="L-F678F1CE")["Quota"]

    assert found["QuotaName"] == "VPCs per Region"
