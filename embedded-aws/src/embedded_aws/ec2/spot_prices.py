"""Prices of Spot Instances: DescribeSpotPriceHistory, and the control that sets them.

EC2 API reference: a history of up to 90 days of the changes of prices, the last one before the
start of the time that is asked for among them; by type, zone and product. A price here changes at
the begin of a day, between the lowest and the highest that a plug-in knows of the region, and else
between invented ones. Products other than Linux have no prices.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from http import HTTPStatus
from typing import Any
from zlib import crc32

from moto.backends import get_backend
from moto.ec2.models.instance_types import INSTANCE_TYPES
from werkzeug import Request, Response

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.controls import SPOT_PRICES_PATH
from embedded_aws.ec2.instance_types import offering_zone_ids, require
from embedded_aws.ec2.tags import select
from embedded_aws.ec2.zones import zone_names
from embedded_aws.hooks import when_spot_price_set
from embedded_aws.offered_controls import ControlError, control, posted
from embedded_aws.plugins import plugins
from embedded_aws.settings import ServerSettings

_LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
_LONGEST = timedelta(days=90)
_MOST = 1000
# Invented: USD an hour of a vCPU.
_LOW, _HIGH = 0.03, 0.04
_FILTERS = {
    "availability-zone": "AvailabilityZone",
    "instance-type": "InstanceType",
    "product-description": "ProductDescription",
    "spot-price": "SpotPrice",
}
# The prices that were set, with their times, by type.
_Set = dict[str, list[tuple[datetime, float]]]


def price_now(account: str, region: str, instance_type: str, zone_id: str) -> float:
    """Return what an instance costs at this time, in USD an hour."""
    now = datetime.now(UTC)
    *_, (_, price) = _changes(account, region, instance_type, zone_id, now, now)
    return price


@action("ec2", "DescribeSpotPriceHistory")
def describe_spot_price_history(call: Call) -> dict[str, Any]:
    """Answer with the prices of the types that are sold on Spot, the newest first."""
    params, now = call.params, datetime.now(UTC)
    end = min(params.get("EndTime", now), now)
    start = max(params.get("StartTime", now - _LONGEST), now - _LONGEST)
    filters = params.get("Filters", [])
    # Types are selected first: the prices of all are many.
    by_type = [each for each in filters if each["Name"] == "instance-type"]
    others = [each for each in filters if each not in by_type]
    named = [{"InstanceType": name} for name in params.get("InstanceTypes") or INSTANCE_TYPES]
    types = select(replace(call, params={"Filters": by_type}), named, _FILTERS)
    product = next((p for p in params.get("ProductDescriptions", _LINUX) if p in _LINUX), None)
    zones = zone_names(call.region)
    wanted = {params.get("AvailabilityZone"), params.get("AvailabilityZoneId")} - {None}
    rows = [
        {
            "AvailabilityZone": zones[zone_id],
            "AvailabilityZoneId": zone_id,
            "InstanceType": name,
            "ProductDescription": product,
            "SpotPrice": f"{price:.6f}",
            "Timestamp": moment,
        }
        for name in (each["InstanceType"] for each in types)
        if product and "spot" in require(name)["SupportedUsageClasses"]
        for zone_id in offering_zone_ids(name, call.region)
        if zone_id in zones and wanted <= {zone_id, zones[zone_id]}
        for moment, price in _changes(call.account, call.region, name, zone_id, start, end)
    ]
    rows = select(replace(call, params={"Filters": others}), rows, _FILTERS)
    rows = sorted(rows, key=lambda row: row["Timestamp"], reverse=True)
    first = int(params.get("NextToken") or 0)
    last = first + params.get("MaxResults", _MOST)
    token = {"NextToken": str(last)} if last < len(rows) else {}
    return {"SpotPriceHistory": rows[first:last], **token}


def _changes(
    account: str, region: str, name: str, zone_id: str, start: datetime, end: datetime
) -> Iterator[tuple[datetime, float]]:
    """Yield the changes of a price, from the last one before a time on."""
    low, high = _range(name, region)
    day = datetime.combine(start.date(), time(tzinfo=UTC))
    found = []
    while day <= end:
        part = crc32(f"{name} {zone_id} {day:%F}".encode()) / 0xFFFFFFFF
        found.append((day, round(low + part * (high - low), 4)))
        day += timedelta(days=1)
    for moment, price in _set_in(account, region).get(name, []):
        if moment <= end:
            # It holds from then on.
            found = [each for each in found if each[0] < moment] + [(moment, price)]
    before = [moment for moment, _ in found if moment <= start]
    yield from (each for each in found if not before or each[0] >= before[-1])


@cache
def _range(name: str, region: str) -> tuple[float, float]:
    for plugin in plugins():
        if known := plugin.spot_prices(region).get(name):
            return known
    vcpus = require(name)["VCpuInfo"]["DefaultVCpus"]
    return vcpus * _LOW, vcpus * _HIGH


def _set_in(account: str, region: str) -> _Set:
    backend = get_backend("ec2")[account][region]
    found: _Set = backend.__dict__.setdefault("embedded_aws_spot_prices", {})
    return found


@control("POST", SPOT_PRICES_PATH)
def _set_prices(request: Request, settings: ServerSettings) -> Response:
    """Set the prices of types in all zones, from now on."""
    found = posted(request)
    if not isinstance(found, Mapping) or not all(map(_is_price, found.values())):
        raise ControlError("this is not an object of prices in USD an hour, by instance type")
    _check_types(found)
    now = datetime.now(UTC)
    for account in settings.accounts:
        for region in settings.regions:
            for name, price in found.items():
                _set_in(account, region).setdefault(name, []).append((now, float(price)))
    when_spot_price_set.call()
    return Response(status=HTTPStatus.NO_CONTENT)


def _is_price(found: object) -> bool:
    return type(found) in (int, float) and float(str(found)) > 0


def _check_types(names: Iterable[str]) -> None:
    """Refuse types that there are not.

    Raises:
        ControlError: there is none of a name.
    """
    try:
        for name in names:
            require(name)
    except Refusal as error:
        raise ControlError(error.message) from error
