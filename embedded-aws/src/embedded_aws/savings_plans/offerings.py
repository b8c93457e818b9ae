"""What Savings Plans there are to buy, and at which rates: those of plug-ins.

Savings Plans API reference: what selects offerings and rates, of which all must fit, each by one of
its values; ValidationException. Inferred: its words, and that offerings of EC2 Instance Savings
Plans have the region and the family of types of their rates. Nothing can be bought.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.added_services import add_service
from embedded_aws.constraints import checks_arguments
from embedded_aws.plugins import plugins

# AWS General Reference, "Savings Plans endpoints and quotas": one endpoint for all regions.
_REGION = "us-east-1"
_INVALID = "ValidationException"
_PAGE = 1000
_OF_OFFERINGS = {
    "offeringIds": "offeringId",
    "paymentOptions": "paymentOption",
    "planTypes": "planType",
    "durations": "durationSeconds",
    "currencies": "currency",
    "descriptions": "description",
}
_OF_RATES = {
    "savingsPlanOfferingIds": "offeringId",
    "savingsPlanPaymentOptions": "paymentOption",
    "savingsPlanTypes": "planType",
    "products": "productType",
    "serviceCodes": "serviceCode",
    "usageTypes": "usageType",
    "operations": "operation",
}
_Row = Mapping[str, Any]
add_service("savingsplans", _REGION)
checks_arguments("savingsplans", _INVALID)


@action("savingsplans", "DescribeSavingsPlansOfferingRates")
def describe_savings_plans_offering_rates(call: Call) -> dict[str, Any]:
    """Answer with rates."""
    found = [
        rate
        for rate in _rates()
        if _fits(call, rate["savingsPlanOffering"] | rate, _OF_RATES, _properties(rate))
    ]
    return _page(call, found)


@action("savingsplans", "DescribeSavingsPlansOfferings")
def describe_savings_plans_offerings(call: Call) -> dict[str, Any]:
    """Answer with the offerings that have rates."""
    found = [
        offering
        for offering in _offerings()
        if call.params.get("productType") in (None, *offering["productTypes"])
        and _fits(call, offering, _OF_OFFERINGS, _properties(offering))
    ]
    return _page(call, found)


def _rates() -> Iterable[_Row]:
    return (rate for plugin in plugins() for rate in plugin.savings_plan_rates())


def _offerings() -> Iterable[dict[str, Any]]:
    """Return the offerings of the rates."""
    found: dict[str, dict[str, Any]] = {}
    for rate in _rates():
        parent = rate["savingsPlanOffering"]
        offering = found.setdefault(
            parent["offeringId"],
            {
                **{name: value for name, value in parent.items() if name != "planDescription"},
                "description": parent["planDescription"],
                "productTypes": [],
                "properties": [
                    each
                    for each in rate["properties"]
                    if parent["planType"] == "EC2Instance"
                    and each["name"] in ("region", "instanceFamily")
                ],
            },
        )
        if rate["productType"] not in offering["productTypes"]:
            offering["productTypes"].append(rate["productType"])
    return found.values()


def _properties(row: _Row) -> dict[str, str]:
    return {each["name"]: each["value"] for each in row["properties"]}


def _fits(call: Call, row: _Row, members: Mapping[str, str], properties: Mapping[str, str]) -> bool:
    """Return whether a row has one of the values of all that a call asks for."""
    asked = {member: call.params[name] for name, member in members.items() if call.params.get(name)}
    return all(row[member] in values for member, values in asked.items()) and all(
        properties.get(each["name"]) in each["values"] for each in call.params.get("filters", [])
    )


def _page(call: Call, rows: list[Any]) -> dict[str, Any]:
    """Return one page of an answer's rows, and the token of the next one."""
    if call.region != _REGION:
        # IAM user guide, "Troubleshoot AWS Signature Version 4": the words of what is signed for
        # another region than the endpoint's. Inferred: the code.
        raise Refusal(
            _INVALID,
            f"Credential should be scoped to a valid Region, not {call.region}; Savings Plans are "
            f"served in {_REGION}.",
        )
    token = call.params.get("nextToken", "0")
    if not token.isdecimal():
        raise Refusal(_INVALID, "The nextToken is not valid.")
    end = int(token) + (call.params.get("maxResults") or _PAGE)
    more = {"nextToken": str(end)} if end < len(rows) else {}
    return {"searchResults": rows[int(token) : end], **more}
