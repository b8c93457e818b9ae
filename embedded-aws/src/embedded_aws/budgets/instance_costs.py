"""What instances cost: the hours that they run by the clock, times their price on demand.

The price is that of the AWS Price List, as plug-ins know it, for Linux on shared hardware; on Spot,
too. Instances without a price cost nothing, and so does all else. A stopped instance costs nothing.
When a control lets time pass, instances run until its end: one that a schedule stops meanwhile ends
then.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from moto.backends import get_backend
from moto.ec2.models.instances import Instance

from embedded_aws.actions import correction
from embedded_aws.clock import now
from embedded_aws.hooks import when_instance_changed, when_instance_ended
from embedded_aws.plugins import plugins

# When an instance's runs began and ended, in turn.
_TIMES = "embedded_aws_run_times"
_SHARED_LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
}
_HOUR_SECONDS = 3600


@correction
def _begin_by_the_clock() -> None:
    """Have moto's instances remember when they began; what moto itself has is another clock's."""
    begin = Instance.__init__

    def remembering(instance: Any, *args: Any, **kwargs: Any) -> None:
        begin(instance, *args, **kwargs)
        vars(instance)[_TIMES] = [now()]

    # mypy refuses replacing methods; moto offers no other way.
    Instance.__init__ = remembering  # type: ignore[method-assign,assignment]


@when_instance_ended
def _end(instance: Any) -> None:
    if _runs_now(instance):
        vars(instance)[_TIMES].append(now())


@when_instance_changed
def _begin_again(instance: Any) -> None:
    if instance.state == "running" and not _runs_now(instance):
        vars(instance)[_TIMES].append(now())


def _runs_now(instance: Any) -> bool:
    return len(vars(instance)[_TIMES]) % 2 == 1


def spent(
    account: str,
    since: datetime,
    tags: Mapping[str, frozenset[str]],
    regions: Collection[str] | None,
) -> float:
    """Return what an account's instances cost since a time, in USD.

    Args:
        account: 12 digits.
        since: the time.
        tags: the values that they may have, by tag; all of these tags count.
        regions: where they may be; None for anywhere.
    """
    return sum(
        max(0, (end - max(begin, since)).total_seconds()) / _HOUR_SECONDS * _price(kind, region)
        for region, kind, begin, end in _runs(account, tags)
        if regions is None or region in regions
    )


def _runs(
    account: str, tags: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, str, datetime, datetime]]:
    """Yield the region, the type, the begin and the end of each run of an instance."""
    for region, backend in get_backend("ec2")[account].items():
        for instance in backend.all_instances():
            own = {tag["key"]: tag["value"] for tag in instance.get_tags()}
            if all(own.get(key) in values for key, values in tags.items()):
                times = [*vars(instance)[_TIMES], now()]
                for begin, end in zip(times[::2], times[1::2], strict=False):
                    yield region, str(instance.instance_type), begin, end


@cache
def _price(instance_type: str, region: str) -> float:
    wanted = {"instanceType": instance_type, "regionCode": region, **_SHARED_LINUX}
    for plugin in plugins():
        for entry in plugin.price_list():
            attributes = entry["product"]["attributes"]
            if all(attributes.get(name) == value for name, value in wanted.items()):
                for term in entry["terms"]["OnDemand"].values():
                    for dimension in term["priceDimensions"].values():
                        return float(dimension["pricePerUnit"]["USD"])
    return 0
