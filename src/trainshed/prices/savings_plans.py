"""Savings Plans: the rates of their own API, for an hour of an instance.

What is paid upfront is in a rate: the commitment is an amount an hour, whichever way it is paid.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from trainshed.aws import Region
from trainshed.prices.commitments import PAYMENTS, Commitment, CommitmentKind
from trainshed.prices.items import instance_item
from trainshed.prices.model import Price, Unclear, Unit
from trainshed.prices.product import REGION_CODE

# Savings Plans API reference, DescribeSavingsPlansOfferingRates.
_KINDS = {
    "Compute": CommitmentKind.COMPUTE_SAVINGS_PLAN,
    "EC2Instance": CommitmentKind.EC2_INSTANCE_SAVINGS_PLAN,
}
_PAGE = 1000
# Savings Plans user guide, "Reviewing and finalizing Savings Plans purchases".
_SECONDS_PER_YEAR = 31_536_000


def ask_savings_plans(
    plans: Region, region: str, instance_types: Sequence[str], today: date
) -> Iterator[tuple[str, Price] | Unclear]:
    """Ask for all rates; needs savingsplans:DescribeSavingsPlansOfferingRates.

    Args:
        plans: where the API is served.
        region: whose prices are wanted.
        instance_types: those whose prices are wanted.
        today: the day of the answer.
    """
    found: dict[str, set[float]] = {}
    for rate in _rates(plans, region, instance_types) if instance_types else ():
        properties = {each["name"]: each["value"] for each in rate["properties"]}
        name = properties["instanceType"]
        # Unused capacity of a reservation, UnusedBox, has rates of its own.
        box = re.fullmatch(f"{REGION_CODE}BoxUsage:{re.escape(name)}", rate["usageType"])
        if box and rate["unit"] == "Hrs" and rate["savingsPlanOffering"]["currency"] == "USD":
            item = instance_item(_commitment(rate["savingsPlanOffering"]), name)
            found.setdefault(item, set()).add(float(rate["rate"]))
    for item, rates in found.items():
        if len(rates) > 1:
            some = ", ".join(map(str, sorted(rates)))
            yield Unclear(item=item, reason=f"there are {len(rates)} rates that fit: {some}")
        else:
            source = "Savings Plans API, DescribeSavingsPlansOfferingRates"
            usd = rates.pop()
            yield item, Price(usd=usd, unit=Unit.HOUR, region=region, date=today, source=source)


def _commitment(offering: dict[str, Any]) -> Commitment:
    return Commitment(
        kind=_KINDS[offering["planType"]],
        years=offering["durationSeconds"] // _SECONDS_PER_YEAR,
        payment=PAYMENTS[offering["paymentOption"]],
    )


def _rates(plans: Region, region: str, instance_types: Sequence[str]) -> Iterator[dict[str, Any]]:
    # boto3 has no paginator for it.
    page: dict[str, str] = {}
    while True:
        answer = plans.call(
            "savingsplans",
            "describe_savings_plans_offering_rates",
            savingsPlanTypes=list(_KINDS),
            products=["EC2"],
            serviceCodes=["AmazonEC2"],
            filters=[
                {"name": "region", "values": [region]},
                {"name": "instanceType", "values": list(instance_types)},
                {"name": "productDescription", "values": ["Linux/UNIX"]},
                {"name": "tenancy", "values": ["shared"]},
            ],
            maxResults=_PAGE,
            **page,
        )
        yield from answer["searchResults"]
        if not answer.get("nextToken"):
            return
        page = {"nextToken": answer["nextToken"]}
