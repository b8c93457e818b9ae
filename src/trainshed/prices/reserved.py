"""Reserved Instances: the reserved terms of an instance's product in the AWS price list.

A term has the attributes `LeaseContractLength` (`1yr`), `PurchaseOption` (`No Upfront`) and
`OfferingClass` (`standard`). Its upfront fee is a price whose unit is `Quantity`, that of an hour
one whose unit is `Hrs`; an answer for c5.xlarge, of 2020, is the source of the form.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from trainshed.prices.commitments import COMMITMENTS, PAYMENTS, Commitment, CommitmentKind
from trainshed.prices.items import instance_item
from trainshed.prices.model import Price, Unclear, Unit


def reserved_prices(
    instance_type: str, offers: Iterable[Mapping[str, Any]], region: str, today: date
) -> Iterator[tuple[str, Price] | Unclear]:
    """Yield prices of standard Reserved Instances, without those that are not sold.

    Args:
        instance_type: whose prices are wanted.
        offers: its products.
        region: whose prices they are.
        today: the day of the answer.
    """
    offers = tuple(offers)
    for commitment in COMMITMENTS:
        if commitment.kind is not CommitmentKind.RESERVED:
            continue
        item = instance_item(commitment, instance_type)
        found = {
            (*_amounts(term), offer["product"]["sku"], offer["publicationDate"][:10])
            for offer in offers
            for term in offer.get("terms", {}).get("Reserved", {}).values()
            if _is(term["termAttributes"], commitment)
        }
        if len(found) > 1:
            reason = f"the price list has {len(found)} reserved terms that fit"
            yield Unclear(item=item, reason=reason)
        for upfront, hourly, sku, published in found if len(found) == 1 else ():
            yield (
                item,
                Price(
                    usd=round(upfront / commitment.hours + hourly, 6),
                    upfront_usd=upfront or None,
                    unit=Unit.HOUR,
                    region=region,
                    date=today,
                    source=f"AWS price list, AmazonEC2 {sku}, published {published}",
                ),
            )


def _is(attributes: Mapping[str, str], commitment: Commitment) -> bool:
    return (
        attributes.get("OfferingClass") == "standard"
        and attributes.get("LeaseContractLength") == f"{commitment.years}yr"
        and PAYMENTS.get(attributes.get("PurchaseOption", "")) is commitment.payment
    )


def _amounts(term: Mapping[str, Any]) -> tuple[float, float]:
    """Return what is paid upfront, and an hour."""
    by_unit = {
        dimension["unit"]: float(dimension["pricePerUnit"]["USD"])
        for dimension in term["priceDimensions"].values()
    }
    return by_unit.get("Quantity", 0), by_unit["Hrs"]
