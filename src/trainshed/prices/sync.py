"""Refreshing a project's own prices from AWS."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from trainshed.aws import Region
from trainshed.catalogue import all_types, lookup, regions_offering
from trainshed.catalogue.kubernetes import SYSTEM_TYPE
from trainshed.errors import Failure
from trainshed.prices.items import Purchase, instance_item
from trainshed.prices.lookup import read
from trainshed.prices.model import Price, Unclear, Unit
from trainshed.prices.price_list import ask
from trainshed.prices.savings_plans import ask_savings_plans

# EC2 API reference, DescribeSpotPriceHistory: the description of Linux in a VPC.
_LINUX = "Linux/UNIX"
# Long enough to show how prices move; EC2 tells those of 90 days.
_SPOT_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh did to the prices of one region.

    Attributes:
        region: the region.
        changed: items whose price is new or another one, with the old and the new price.
        same: how many prices are as they were.
        unclear: items whose price AWS did not tell, and why; the file keeps what it has of them.
    """

    region: str
    changed: Mapping[str, tuple[str | None, str]]
    same: int
    unclear: tuple[Unclear, ...]


def synchronise(
    regions: Iterable[Region],
    price_list: Region,
    now: datetime,
    path: Path,
    progress: Callable[[str], None],
) -> tuple[Refreshed, ...]:
    """Refresh the prices of regions in a file. Nothing is written before every one has answered.

    Args:
        regions: whose prices are wanted; needs ec2:DescribeSpotPriceHistory.
        price_list: where the price list and the API of Savings Plans are served; needs
            pricing:GetProducts and savingsplans:DescribeSavingsPlansOfferingRates.
        now: the end of the spot prices' days; its day is the prices' date.
        path: the file; prices of other regions and items in it stay.
        progress: called with the name of each region before it is asked.

    Raises:
        AwsRefusal: AWS refuses a call.
        Failure: the file cannot be written.
    """
    if not path.parent.is_dir():
        raise Failure(f"{path} cannot be written: there is no folder {path.parent}")
    records = {region: dict(items) for region, items in read(path).items()}
    refreshed = []
    today = now.astimezone(UTC).date()
    for region in regions:
        progress(region.name)
        prices, unclear = {}, []
        types = _types(region.name)
        for answer in chain(
            ask(price_list, region.name, (*types, SYSTEM_TYPE), today),
            ask_savings_plans(price_list, region.name, types, today),
        ):
            if isinstance(answer, Unclear):
                unclear.append(answer)
            else:
                prices[answer[0]] = answer[1]
        prices |= _spot_prices(region, now, today)
        before = records.get(region.name, {})
        fresh = {item: _record(price) for item, price in prices.items()}
        records[region.name] = before | fresh
        refreshed.append(_compare(region.name, before, fresh, unclear))
    _write(path, records)
    return tuple(refreshed)


def _types(region: str) -> tuple[str, ...]:
    """Return the types that the region offers or, of withdrawn ones, offered."""
    return tuple(name for name in all_types() if region in regions_offering(name))


def _spot_prices(region: Region, now: datetime, today: date) -> dict[str, Price]:
    """Return the range of the spot prices of each type over the region's zones and 30 days.

    It begins with the prices that are in effect at the start: EC2 tells them with their changes.
    """
    found: dict[str, list[float]] = {}
    sold = [name for name in _types(region.name) if Purchase.SPOT in lookup(name).usage_classes]
    for quote in region.pages(
        "ec2",
        "describe_spot_price_history",
        "SpotPriceHistory",
        # Inferred: the parameter InstanceTypes refuses types that EC2 no longer lists, as that of
        # DescribeInstanceTypes does. A filter refuses none.
        Filters=[{"Name": "instance-type", "Values": sold}],
        ProductDescriptions=[_LINUX],
        StartTime=now - timedelta(days=_SPOT_DAYS),
        EndTime=now,
    ):
        found.setdefault(quote["InstanceType"], []).append(float(quote["SpotPrice"]))
    return {
        instance_item(Purchase.SPOT, name): Price(
            usd=min(quotes),
            usd_to=None if min(quotes) == max(quotes) else max(quotes),
            unit=Unit.HOUR,
            region=region.name,
            date=today,
            source=f"EC2 API, DescribeSpotPriceHistory, all zones, {_SPOT_DAYS} days",
        )
        for name, quotes in found.items()
    }


def _record(price: Price) -> dict[str, Any]:
    more = {"usd_to": price.usd_to, "upfront_usd": price.upfront_usd}
    return {
        "usd": price.usd,
        **{name: usd for name, usd in more.items() if usd is not None},
        "unit": price.unit.value,
        "date": price.date.isoformat(),
        "source": price.source,
    }


def _compare(
    region: str,
    before: Mapping[str, Mapping[str, Any]],
    fresh: Mapping[str, Mapping[str, Any]],
    unclear: Iterable[Unclear],
) -> Refreshed:
    changed = {
        item: (_said(before.get(item)), _said(record) or "")
        for item, record in fresh.items()
        if _said(before.get(item)) != _said(record)
    }
    return Refreshed(
        region=region,
        changed=changed,
        same=len(fresh) - len(changed),
        unclear=tuple(unclear),
    )


def _said(record: Mapping[str, Any] | None) -> str | None:
    if record is None:
        return None
    to = f" to {record['usd_to']:g}" if "usd_to" in record else ""
    return f"{record.get('usd')}{to}"


def _write(path: Path, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write one price a line, so that a refresh is read as a diff of the prices it changed."""
    regions = []
    for region, items in sorted(records.items()):
        lines = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(items.items())]
        regions.append(f" {json.dumps(region)}: {{\n" + ",\n".join(lines) + "\n }")
    try:
        path.write_text("{\n" + ",\n".join(regions) + "\n}\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from error
