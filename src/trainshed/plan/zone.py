"""Which availability zone: the one that offers the type, by ID wherever possible."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.errors import did_you_mean
from trainshed.plan.notes import Notes

_LETTERS = "abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """One availability zone of a region.

    Attributes:
        name: zone ID (usw2-az4, the same in every account) or zone name (us-west-2d, which each
            account maps for itself).
        is_id: `name` is a zone ID.
        index: the number in its ID less one, or the place of its letter: from 0; gives the zone
            its subnets, so that a zone that joins later does not move another's addresses.
    """

    name: str
    is_id: bool
    index: int


def other_zones(zone: Zone, region: str, *, without: Collection[str]) -> tuple[Zone, ...]:
    """Return the other zones of a region, named as one is: by ID or by name.

    Args:
        zone: the one.
        region: its region.
        without: IDs of zones that are left out.
    """
    ids = catalogue.zone_ids(region)
    if zone.is_id:
        return tuple(_by_id(each) for each in ids if each not in {zone.name, *without})
    # Which ID a name stands for is the account's, but each region has as many names as IDs.
    names = [region + letter for letter in _LETTERS[: len(ids)]]
    return tuple(_by_name(each) for each in names if each != zone.name)


def _by_id(name: str) -> Zone:
    return Zone(name=name, is_id=True, index=int(name.rpartition("-az")[2]) - 1)


def _by_name(name: str) -> Zone:
    return Zone(name=name, is_id=False, index=_LETTERS.index(name[-1]))


def plan_zone(notes: Notes, region: str | None, instance: InstanceType | None) -> Zone | None:
    """Choose the zone, or say why there is none."""
    asked = notes.spec.zone
    if region is None:
        return None
    if instance and not (offering := catalogue.zones_offering(instance.name, region)):
        regions = ", ".join(catalogue.regions_offering(instance.name))
        notes.problem(
            "instance.type" if notes.spec.region is None else "region",
            f"{instance.name} is not offered in {region} (offered in: {regions})",
        )
        return None
    ids = catalogue.zone_ids(region)
    if asked and asked.startswith(region):
        return _named(notes, region, asked)
    if asked and asked not in ids:
        near = did_you_mean(asked, ids)
        notes.problem(
            "zone", f"{asked!r} is not a zone of {region}{near} (zones: {', '.join(ids)})"
        )
        return None
    if not instance:
        return None
    if not (offering := tuple(zone for zone in offering if zone in ids)):
        notes.problem(
            "region", f"{instance.name} is offered in local zones of {region} only, without a NAT"
        )
        return None
    if asked and asked not in offering:
        notes.problem(
            "zone",
            f"{instance.name} is not offered in {asked} (zones that do: {', '.join(offering)})",
        )
        return None
    chosen = asked or offering[0]
    reason = "as asked" if asked else f"the first zone of {region} that offers {instance.name}"
    notes.decide("zone", chosen, reason)
    return _by_id(chosen)


def _named(notes: Notes, region: str, asked: str) -> Zone | None:
    if not re.fullmatch(re.escape(region) + f"[{_LETTERS}]", asked):
        notes.problem("zone", f"{asked!r} is not a zone name of {region} ({region}a to {region}f)")
        return None
    notes.decide("zone", asked, "as asked, by name")
    return _by_name(asked)
