"""The prices that trainshed ships as products of an AWS price list, for the embedded AWS.

Nobody should take them for AWS's: their SKUs begin with EXAMPLE, and each price is described by its
own source. The form is that of the AWS CLI reference, `pricing get-products`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from typing import Any

from trainshed.catalogue import all_types
from trainshed.catalogue.kubernetes import SYSTEM_TYPE
from trainshed.prices.commitments import COMMITMENTS, PAYMENTS, CommitmentKind, Payment
from trainshed.prices.items import instance_item
from trainshed.prices.lookup import PriceList, shipped_prices
from trainshed.prices.model import Price
from trainshed.prices.price_list import products
from trainshed.prices.product import UNITS, Product

# By which usage types begin. S3 user guide, "Understanding your AWS billing and usage reports for
# Amazon S3".
_REGION_CODES = {"us-east-1": "", "us-west-2": "USW2-"}
_OPTIONS = {payment: name for name, payment in PAYMENTS.items()}


@cache
def example_products() -> tuple[Mapping[str, Any], ...]:
    """Return all products that have a price."""
    return tuple(
        found
        for prices in shipped_prices()
        for product in products((*all_types(), SYSTEM_TYPE))
        if (found := _product(product, prices))
    )


def _product(product: Product, prices: PriceList) -> dict[str, Any] | None:
    """Return a product with its terms; None when no price of it is known."""
    identity = f"{prices.region} {product.item}"
    sku = f"EXAMPLE{sha256(identity.encode()).hexdigest()[:9].upper()}"
    on_demand, reserved = prices.price(product.item), dict(_reserved(product, prices, sku))
    known = [price for price, _ in reserved.values()] + ([on_demand] if on_demand else [])
    if not known:
        return None
    filters = dict(product.filters)
    family = filters.pop("productFamily", None)
    usage_type = product.usage_type and _REGION_CODES[prices.region] + product.usage_type
    return {
        "product": {
            **({"productFamily": family} if family else {}),
            "attributes": {
                "servicecode": product.service,
                "regionCode": prices.region,
                **({"usagetype": usage_type} if usage_type else {}),
                **filters,
                **product.attributes,
            },
            "sku": sku,
        },
        "serviceCode": product.service,
        "terms": {
            "OnDemand": _on_demand(on_demand, sku) if on_demand else {},
            "Reserved": {name: term for name, (_, term) in reserved.items()},
        },
        "version": "example",
        "publicationDate": f"{min(price.date for price in known)}T00:00:00Z",
    }


def _on_demand(price: Price, sku: str) -> dict[str, Any]:
    unit, ours = next(iter(UNITS[price.unit].items()))
    return {f"{sku}.OnDemand": _term(sku, price, {}, {unit: price.usd * ours})}


def _reserved(
    product: Product, prices: PriceList, sku: str
) -> Iterator[tuple[str, tuple[Price, dict[str, Any]]]]:
    """Yield the reserved terms of an instance whose upfront fees are known."""
    instance_type = product.filters.get("instanceType")
    for commitment in COMMITMENTS if instance_type else ():
        price = prices.price(instance_item(commitment, str(instance_type)))
        if commitment.kind is not CommitmentKind.RESERVED or price is None:
            continue
        upfront = price.upfront_usd or 0
        if upfront or commitment.payment is Payment.NO_UPFRONT:
            attributes = {
                "LeaseContractLength": f"{commitment.years}yr",
                "OfferingClass": "standard",
                "PurchaseOption": _OPTIONS[commitment.payment],
            }
            hourly = {"Hrs": max(0, price.usd - upfront / commitment.hours)}
            fees = {"Quantity": upfront, **hourly} if upfront else hourly
            yield f"{sku}.{commitment}", (price, _term(sku, price, attributes, fees))


def _term(
    sku: str, price: Price, attributes: Mapping[str, str], usd_by_unit: Mapping[str, float]
) -> dict[str, Any]:
    return {
        "priceDimensions": {
            f"{sku}.{unit}": {
                "unit": unit,
                "beginRange": "0",
                "endRange": "Inf",
                "description": f"an example: {price.source}, {price.date}",
                "appliesTo": [],
                "rateCode": f"{sku}.{unit}",
                "pricePerUnit": {"USD": f"{usd:.10f}"},
            }
            for unit, usd in usd_by_unit.items()
        },
        "sku": sku,
        "effectiveDate": f"{price.date}T00:00:00Z",
        "offerTermCode": "example",
        "termAttributes": dict(attributes),
    }
