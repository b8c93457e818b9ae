"""EC2 accelerator quotas."""

from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError

import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.service_quotas.grants import QUOTAS_PATH

TRN = {"ServiceCode": "ec2", "QuotaCode": "L-2C3B7624"}


@pytest.fixture
def quotas(client: Callable[..., Any]) -> Any:
    # Another region than the other tests': a raised quota stays.
    return client("service-quotas", "us-east-2")


def test_a_request_waits_until_it_is_granted(
    clean_aws: EmbeddedAws, refusal: Callable[..., Any]
) -> None:
    quotas = clean_aws.client("service-quotas")
    before = quotas.get_service_quota(**TRN)["Quota"]

    asked = quotas.request_service_quota_increase(**TRN, DesiredValue=2048)["RequestedQuota"]
    again = refusal(quotas.request_service_quota_increase, **TRN, DesiredValue=4096)
    waiting = quotas.get_service_quota(**TRN)["Quota"]["Value"]
    clean_aws.grant_quota(TRN["QuotaCode"], 2048)
    lower = refusal(quotas.request_service_quota_increase, **TRN, DesiredValue=128)

    assert (before["QuotaName"], before["Value"]) == ("Running On-Demand Trn instances", 0)
    assert (asked["Status"], waiting) == ("PENDING", 0)
    assert again.code == "ResourceAlreadyExistsException"
    assert quotas.get_service_quota(**TRN)["Quota"]["Value"] == 2048
    assert quotas.get_aws_default_service_quota(**TRN)["Quota"]["Value"] == 0
    shown = quotas.get_requested_service_quota_change(RequestId=asked["Id"])["RequestedQuota"]
    assert shown["Status"] == "APPROVED"
    listed = quotas.list_requested_service_quota_change_history(Status="PENDING")
    assert listed["RequestedQuotas"] == []
    assert "must be greater than" in lower.message


def test_a_quota_of_another_service_is_granted_too(clean_aws: EmbeddedAws) -> None:
    clean_aws.grant_quota("L-F678F1CE", 1, service="vpc")

    found = clean_aws.client("service-quotas").get_service_quota(
        ServiceCode="vpc", QuotaCode="L-F678F1CE"
    )

    assert found["Quota"]["Value"] == 1


@pytest.mark.parametrize(
    ("posted", "message"),
    [
        (b"{}", "not a list of quotas"),
        (b'[{"service": "ec2"}]', "service, code and value"),
        (b'[{"service": "ec2", "code": "L-1", "value": "8"}]', "a number from 0"),
        (b'[{"service": "ec2", "code": "L-1", "value": 8, "zone": "a"}]', "no 'zone'"),
        (b'[{"service": "ec2", "code": "L-1", "value": 8, "region": "x"}]', "no account"),
    ],
)
def test_a_bad_grant_is_explained(embedded_aws: EmbeddedAws, posted: bytes, message: str) -> None:
    with pytest.raises(HTTPError) as caught:
        embedded_aws.settings.controls.ask("POST", QUOTAS_PATH, posted)

    assert caught.value.code == 400
    assert message in caught.value.read().decode()


def test_an_unknown_quota_is_refused(quotas: Any, refusal: Callable[..., Any]) -> None:
    refused = refusal(quotas.get_service_quota, ServiceCode="ec2", QuotaCode="L-00000000")

    assert refused.code == "NoSuchResourceException"


def test_other_services_keep_their_quotas(quotas: Any) -> None:
    found = quotas.get_service_quota(ServiceCode="vpc", QuotaCode="L-F678F1CE")["Quota"]

    assert found["QuotaName"] == "VPCs per Region"
