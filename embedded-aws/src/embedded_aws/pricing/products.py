"""The products of the AWS price list: those of plug-ins, since the embedded AWS knows no prices.

Price List API reference: the actions, and the errors by name. Reports of users have the words of
the refused service codes (github.com/aws/aws-sdk-js/issues/3329 and
github.com/cloud-barista/cb-spider/issues/1055). Inferred: the other words; that GetProducts finds
nothing of a service that there is not, while the other actions refuse it; that ANY_OF and NONE_OF
take values with commas between them.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.added_services import add_service
from embedded_aws.constraints import checks_arguments
from embedded_aws.plugins import plugins

# AWS General Reference, "AWS Billing and Cost Management endpoints and quotas".
_REGIONS = ("us-east-1", "eu-central-1", "ap-south-1")
_FORMAT = "aws_v1"
_INVALID = "InvalidParameterException"
# The most of a page of GetProducts and DescribeServices, and of GetAttributeValues.
_PAGE, _PAGE_OF_VALUES = 100, 10_000
_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "TERM_MATCH": lambda found, value: found == value,
    "EQUALS": lambda found, value: found == value,
    "CONTAINS": lambda found, value: value in found,
    "ANY_OF": lambda found, value: found in value.split(","),
    "NONE_OF": lambda found, value: found not in value.split(","),
}
add_service("pricing", *_REGIONS)
checks_arguments("pricing", _INVALID)


@action("pricing", "GetProducts")
def get_products(call: Call) -> dict[str, Any]:
    """Answer with the products of a service that fit all filters, each as a text of JSON."""
    _check(call)
    filters = call.params.get("Filters", [])
    found = [
        product
        for product in _products()
        if product["serviceCode"] == call.params["ServiceCode"]
        and all(_fits(_attributes(product), each) for each in filters)
    ]
    return _page(call, "PriceList", map(json.dumps, found), _PAGE) | {"FormatVersion": _FORMAT}


@action("pricing", "DescribeServices")
def describe_services(call: Call) -> dict[str, Any]:
    """Answer with the services, and the attributes that their products have."""
    _check(call)
    names: dict[str, set[str]] = {}
    for product in _products():
        names.setdefault(product["serviceCode"], set()).update(_attributes(product))
    wanted = call.params.get("ServiceCode")
    services = [
        {"ServiceCode": code, "AttributeNames": sorted(attributes)}
        for code, attributes in sorted(names.items())
        if wanted in (None, code)
    ]
    if wanted and not services:
        raise _not_found()
    return _page(call, "Services", services, _PAGE) | {"FormatVersion": _FORMAT}


@action("pricing", "GetAttributeValues")
def get_attribute_values(call: Call) -> dict[str, Any]:
    """Answer with the values of an attribute among the products of a service."""
    _check(call)
    values = {
        value
        for product in _products()
        if product["serviceCode"] == call.params["ServiceCode"]
        if (value := _attributes(product).get(call.params["AttributeName"])) is not None
    }
    if not values:
        raise _not_found()
    rows = ({"Value": value} for value in sorted(values))
    return _page(call, "AttributeValues", rows, _PAGE_OF_VALUES)


def _products() -> Iterable[Mapping[str, Any]]:
    return (product for plugin in plugins() for product in plugin.price_list())


def _attributes(product: Mapping[str, Any]) -> dict[str, str]:
    """Return what products are selected by."""
    found = {"servicecode": product["serviceCode"], **product["product"]["attributes"]}
    family = product["product"].get("productFamily")
    return found | ({"productFamily": family} if family else {})


def _fits(attributes: Mapping[str, str], asked: Mapping[str, str]) -> bool:
    # The documentation writes ServiceCode, and products have servicecode.
    field = "servicecode" if asked["Field"] == "ServiceCode" else asked["Field"]
    return field in attributes and _TESTS[asked["Type"]](attributes[field], asked["Value"])


def _check(call: Call) -> None:
    """Refuse what the price list does not answer.

    Raises:
        Refusal: the region has no endpoint, or an argument is wrong.
    """
    if call.region not in _REGIONS:
        # AWS has no endpoint in the region that could answer. IAM user guide, "Troubleshoot AWS
        # Signature Version 4": the words of what is signed for another region than the endpoint's.
        raise Refusal(
            "AccessDeniedException",
            f"Credential should be scoped to a valid Region, not {call.region}; the price list is "
            f"served in {', '.join(_REGIONS)}.",
        )
    code = call.params.get("ServiceCode")
    if code == "":
        message = "Input Parameters are invalid. serviceCode cannot be null or empty"
        raise Refusal(_INVALID, message)
    if code and not re.fullmatch("[a-zA-Z0-9]+", code):
        raise Refusal(_INVALID, "ServiceCode can only contain a-z, A-Z, 0-9")
    if call.params.get("FormatVersion", _FORMAT) != _FORMAT:
        raise Refusal(_INVALID, f"FormatVersion must be {_FORMAT}")


def _page(call: Call, name: str, rows: Iterable[Any], most: int) -> dict[str, Any]:
    """Return one page of an answer's rows, and the token of the next one."""
    rows, token = list(rows), call.params.get("NextToken", "0")
    if not token.isdecimal():
        message = "The pagination token is invalid. Try again without a pagination token."
        raise Refusal("InvalidNextTokenException", message)
    end = int(token) + call.params.get("MaxResults", most)
    more = {"NextToken": str(end)} if end < len(rows) else {}
    return {name: rows[int(token) : end], **more}


def _not_found() -> Refusal:
    return Refusal("NotFoundException", "The requested resource can't be found.")
