"""Looking up prices: the project's own first, then those that trainshed ships."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from trainshed.errors import TrainshedError
from trainshed.files import MissingFile, read_text
from trainshed.prices.items import Purchase, unit_of
from trainshed.prices.model import Price

# Beside cdk.json and clusters/, so that all who work on a project see the same figures.
OWN_FILE = Path("prices.json")

# Regions that have the same prices on demand: SkyPilot's catalogue (00148f2) has the same price for
# each type that it has in both.
_AS_IN = {"us-west-2": "us-east-1"}

Records = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices of a region.

    Attributes:
        region: for instance `us-west-2`.
        prices: by item.
    """

    region: str
    prices: Mapping[str, Price]

    def price(self, item: str) -> Price | None:
        """Return the price of an item; None when it is unknown."""
        return self.prices.get(item)


def load_prices(region: str, own: Path = OWN_FILE) -> PriceList:
    """Return the prices of a region: each from the project's own file, or else the shipped one.

    For an instance on demand that has none, the price of a region that has the same ones stands in.

    Args:
        region: for instance `us-west-2`.
        own: the project's own file, which need not be there.

    Raises:
        TrainshedError: the project's file cannot be read, or something is wrong in it.
    """
    shipped = _read_prices("the shipped prices", _shipped(), region)
    stand_ins = {
        item: price
        for item, price in _read_prices(
            "the shipped prices", _shipped(), _AS_IN.get(region)
        ).items()
        if item.startswith(f"{Purchase.ON_DEMAND}/")
    }
    prices = stand_ins | shipped | _read_prices(str(own), read(own), region)
    return PriceList(region=region, prices=prices)


def shipped_prices() -> tuple[PriceList, ...]:
    """Return the prices that trainshed ships, of each region by itself."""
    return tuple(
        PriceList(region=region, prices=_read_prices("the shipped prices", _shipped(), region))
        for region in _shipped()
    )


def read(path: Path) -> Records:
    """Return what is in a file of prices, by region and item; nothing when there is no file.

    Raises:
        TrainshedError: it cannot be read, or is not JSON of that form.
    """
    try:
        found = json.loads(read_text(path))
    except MissingFile:
        return {}
    except (ValueError, RecursionError) as error:
        raise TrainshedError(
            f"{path} is not JSON: {error}; trainshed cost sync writes it"
        ) from error
    if not _objects(found) or not all(map(_objects, found.values())):
        raise TrainshedError(
            f"{path}: write prices by region and item, as trainshed cost sync does: "
            '{"us-west-2": {"on-demand/trn1.32xlarge": {"usd": 21.5, "unit": "hour", ...}}}'
        )
    records: Records = found
    return records


def _objects(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, dict) for entry in value.values())


@cache
def _shipped() -> Records:
    text = (files("trainshed.prices") / "data" / "prices.json").read_text(encoding="utf-8")
    records: Records = json.loads(text)
    return records


def _read_prices(origin: str, records: Records, region: str | None) -> dict[str, Price]:
    if region is None:
        return {}
    return {
        item: _read_price(f"{origin}: {region}: {item}", item, record, region)
        for item, record in records.get(region, {}).items()
    }


def _read_price(place: str, item: str, record: Mapping[str, Any], region: str) -> Price:
    try:
        unit = unit_of(item)
        price = Price(
            usd=_amount(record["usd"]),
            usd_to=_amount(record["usd_to"]) if "usd_to" in record else None,
            upfront_usd=_amount(record["upfront_usd"]) if "upfront_usd" in record else None,
            unit=unit,
            region=region,
            date=_date(record["date"]),
            source=str(record["source"]),
        )
    except TrainshedError as error:
        raise TrainshedError(f"{place}: {error}") from error
    except KeyError as error:
        raise TrainshedError(f"{place}: {error} is missing; add it") from error
    except (TypeError, ValueError) as error:
        raise TrainshedError(f"{place}: {error}") from error
    if record.get("unit") != unit:
        raise TrainshedError(f"{place}: the unit is {record.get('unit')!r}; it must be {unit}")
    return price


def _date(value: object) -> date:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a date; write it as in 2026-11-01") from None


def _amount(value: object) -> float:
    # bool is an int in Python. Of nothing here the price is 0: what is free has no price at all.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number of US dollars")
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{value!r} is not a price; leave out a price that is not known")
    return float(value)
