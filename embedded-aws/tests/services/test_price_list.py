"""The AWS price list, of a plug-in's products."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from embedded_aws.plugins import Plugin
from embedded_aws.pricing import products


def product(service: str, sku: str, family: str, **attributes: str) -> dict[str, Any]:
    return {
        "product": {
            **({"productFamily": family} if family else {}),
            "attributes": {"servicecode": service, "regionCode": "us-west-2", **attributes},
            "sku": sku,
        },
        "serviceCode": service,
        "terms": {"OnDemand": {f"{sku}.JRTCKXETXF": {"priceDimensions": {}, "sku": sku}}},
        "version": "1",
        "publicationDate": "2026-11-18T00:57:01Z",
    }


class Prices(Plugin):
    """Two services."""

    def price_list(self) -> Iterable[Mapping[str, Any]]:
        return [
            product("AmazonEC2", "GP3", "Storage", volumeApiName="gp3"),
            product("AmazonEC2", "GP2", "Storage", volumeApiName="gp2"),
            product("AmazonEC2", "NAT", "NAT Gateway", group="NGW:NatGateway"),
            product("AmazonEFS", "EFS", "", storageClass="General Purpose"),
        ]


@pytest.fixture(autouse=True)
def plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "plugins", lambda: (Prices(),))


@pytest.fixture
def pricing(client: Callable[..., Any]) -> Any:
    return client("pricing", "us-east-1")


def skus(pricing: Any, *filters: tuple[str, str, str]) -> list[str]:
    asked = [{"Type": kind, "Field": field, "Value": value} for kind, field, value in filters]
    found = pricing.get_products(ServiceCode="AmazonEC2", Filters=asked)
    return [json.loads(text)["product"]["sku"] for text in found["PriceList"]]


def test_products_are_texts_of_json_with_their_terms(pricing: Any) -> None:
    answer = pricing.get_products(ServiceCode="AmazonEFS")

    assert answer["FormatVersion"] == "aws_v1"
    assert [json.loads(text) for text in answer["PriceList"]] == [[*Prices().price_list()][3]]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        pytest.param([], ["GP3", "GP2", "NAT"], id="none"),
        pytest.param([("TERM_MATCH", "volumeApiName", "gp3")], ["GP3"], id="term"),
        pytest.param([("EQUALS", "volumeApiName", "gp")], [], id="equals"),
        pytest.param([("CONTAINS", "volumeApiName", "gp")], ["GP3", "GP2"], id="contains"),
        pytest.param([("ANY_OF", "volumeApiName", "gp2,io2")], ["GP2"], id="any"),
        pytest.param([("NONE_OF", "volumeApiName", "gp2,io2")], ["GP3"], id="none-of"),
        pytest.param([("TERM_MATCH", "productFamily", "Storage")], ["GP3", "GP2"], id="family"),
        pytest.param([("TERM_MATCH", "ServiceCode", "AmazonEFS")], [], id="service"),
        pytest.param(
            [("TERM_MATCH", "productFamily", "Storage"), ("TERM_MATCH", "volumeApiName", "gp2")],
            ["GP2"],
            id="both",
        ),
    ],
)
def test_filters_select_products(
    pricing: Any, filters: list[tuple[str, str, str]], found: list[str]
) -> None:
    assert skus(pricing, *filters) == found


def test_answers_come_in_pages(pricing: Any) -> None:
    paginator = pricing.get_paginator("get_products")
    pages = [
        len(page["PriceList"])
        for page in paginator.paginate(ServiceCode="AmazonEC2", PaginationConfig={"PageSize": 2})
    ]

    assert pages == [2, 1]


def test_services_have_attributes_and_these_have_values(pricing: Any) -> None:
    services = {
        each["ServiceCode"]: each["AttributeNames"]
        for each in pricing.describe_services()["Services"]
    }
    families = pricing.get_attribute_values(ServiceCode="AmazonEC2", AttributeName="productFamily")

    assert services == {
        "AmazonEC2": ["group", "productFamily", "regionCode", "servicecode", "volumeApiName"],
        "AmazonEFS": ["regionCode", "servicecode", "storageClass"],
    }
    assert pricing.describe_services(ServiceCode="AmazonEFS")["Services"] == [
        {"ServiceCode": "AmazonEFS", "AttributeNames": services["AmazonEFS"]}
    ]
    assert families["AttributeValues"] == [{"Value": "NAT Gateway"}, {"Value": "Storage"}]


def test_nothing_is_found_of_a_service_that_there_is_not(pricing: Any) -> None:
    assert pricing.get_products(ServiceCode="AmazonS3")["PriceList"] == []


INVALID, TOKEN, MISSING = (
    "InvalidParameterException",
    "InvalidNextTokenException",
    "NotFoundException",
)


@pytest.mark.parametrize(
    ("operation", "asked", "code", "words"),
    [
        pytest.param("get_products", {"ServiceCode": ""}, INVALID, "null or empty", id="empty"),
        pytest.param(
            "get_products", {"ServiceCode": "A 2"}, INVALID, "can only contain", id="code"
        ),
        pytest.param("get_products", {"FormatVersion": "v2"}, INVALID, "aws_v1", id="format"),
        pytest.param("get_products", {"NextToken": "x"}, TOKEN, "token is invalid", id="token"),
        pytest.param(
            "get_products",
            {"Filters": [{"Type": "LIKE", "Field": "group", "Value": "N"}]},
            INVALID,
            "satisfy enum value set",
            id="filter",
        ),
        pytest.param("describe_services", {"ServiceCode": "A"}, MISSING, "can't be found", id="no"),
        pytest.param(
            "get_attribute_values",
            {"AttributeName": "wheels"},
            MISSING,
            "can't be found",
            id="none",
        ),
    ],
)
def test_a_wrong_question_is_refused(
    pricing: Any,
    refusal: Callable[..., Any],
    operation: str,
    asked: dict[str, Any],
    code: str,
    words: str,
) -> None:
    refused = refusal(getattr(pricing, operation), **{"ServiceCode": "AmazonEC2", **asked})

    assert (refused.code, words in refused.message) == (code, True)


def test_it_is_served_in_some_regions_only(
    client: Callable[..., Any], refusal: Callable[..., Any]
) -> None:
    refused = refusal(client("pricing", "us-west-2").get_products, ServiceCode="AmazonEC2")

    assert refused.code == "AccessDeniedException"
    assert "served in us-east-1, eu-central-1, ap-south-1" in refused.message
    assert client("pricing", "eu-central-1").get_products(ServiceCode="AmazonEC2")["PriceList"]
