"""Looking up instance types and offerings in the committed snapshot."""

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from trainshed.catalogue.model import Correction, InstanceType, Lifecycle, LifecycleStatus, Quota
from trainshed.catalogue.records import Record, parse, reported_accelerator
from trainshed.catalogue.similar import likely_meant, most_like
from trainshed.errors import TrainshedError, UnknownName


@cache
def _load(name: str) -> Any:
    text = (files("trainshed.catalogue") / "data" / name).read_text(encoding="utf-8")
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)


def snapshot_date() -> date:
    """Return the day on which the EC2 API said what the snapshot holds."""
    return date.fromisoformat(_load("instance_types.json")["date"])


def withdrawn_records() -> Mapping[str, Record]:
    """Return the last API record of each type that the API no longer lists, by name."""
    return {name: entry["record"] for name, entry in _load("withdrawn.json").items()}


@cache
def all_types() -> tuple[str, ...]:
    """Return the name of every instance type in the catalogue, sorted; withdrawn ones too."""
    return tuple(sorted({*_load("instance_types.json")["records"], *_load("withdrawn.json")}))


@cache
def lookup(name: str) -> InstanceType:
    """Return an instance type.

    Raises:
        UnknownName: the catalogue has no such type; the message names the nearest one.
    """
    return interpret(_record(name))


def with_efa_like(instance: InstanceType, region: str | None) -> InstanceType:
    """Return the type with EFA that is most like another one, if possible of a region's."""
    types = [lookup(name) for name in all_types()]
    sold = [each for each in types if each.efa_interfaces_max and not each.withdrawn]
    here = [each for each in sold if region in regions_offering(each.name)]
    return most_like(instance, here or sold)


def corrections(name: str) -> tuple[Correction, ...]:
    """Return what the overlay says about a type's accelerator instead of the API's record.

    Raises:
        UnknownName: the catalogue has no such type.
    """
    reported = reported_accelerator(_record(name))
    overlay = _load("overlay.toml")["types"].get(name, {}).get("accelerator", {})
    return tuple(
        Correction(field=field, value=value, reported=reported.get(field))
        for field, value in overlay.items()
    )


def _record(name: str) -> Record:
    if name not in all_types():
        meant = likely_meant(name, map(lookup, all_types()))
        raise UnknownName(
            "instance type",
            name,
            all_types(),
            meant=meant.name if meant else None,
            listed_by="trainshed catalogue list",
        )
    record: Record = withdrawn_records().get(name) or _load("instance_types.json")["records"][name]
    return record


def interpret(record: Record) -> InstanceType:
    """Return the instance type of an API record, with the overlay where the API is wrong or silent.

    Raises:
        TrainshedError: the record lacks a field, or has it in a form that is not known.
    """
    overlay = _load("overlay.toml")
    name = record["InstanceType"]
    try:
        return parse(
            record,
            overlay["families"].get(name.partition(".")[0], {}) | overlay["types"].get(name, {}),
            _lifecycle(name, overlay["lifecycles"].get(name, {})),
            _quota(name, "on_demand_quotas"),
            _quota(name, "spot_quotas"),
            overlay["huge_pages"],
        )
    except (KeyError, ValueError) as error:
        raise TrainshedError(
            f"the EC2 API's record of {name} cannot be read ({error}); add what is missing to "
            "overlay.toml of the catalogue"
        ) from error


def quota_of(name: str, *, spot: bool = False) -> Quota | None:
    """Return the quota of vCPUs that any instance type counts against, if it is one of ours."""
    try:
        return _quota(name, "spot_quotas" if spot else "on_demand_quotas")
    except KeyError:
        return None


def _quota(name: str, table: str) -> Quota:
    entries = _load("overlay.toml")[table]
    # P4 and P5 have quotas of their own on Spot.
    family = re.match("(?P<letters>[a-z]+)[0-9]*", name)
    key = family[0] if family and family[0] in entries else family and family["letters"]
    return Quota(service="ec2", **entries[key])


def _lifecycle(name: str, entry: Mapping[str, str]) -> Lifecycle:
    seen = _load("withdrawn.json").get(name)
    return Lifecycle(
        status=LifecycleStatus(entry.get("status", "withdrawn" if seen else "offered")),
        last_seen=date.fromisoformat(seen["last_seen"]) if seen else None,
        first_missing=date.fromisoformat(seen["first_missing"]) if seen else None,
        replacement=entry.get("replacement"),
        source=entry.get("source"),
    )


def zones_offering(name: str, region: str) -> tuple[str, ...]:
    """Return the zone IDs of a region that offer a type, sorted.

    For a withdrawn type they are the last ones known, of the day `lifecycle.last_seen`.

    Raises:
        UnknownName: the catalogue does not know the type or the region.
    """
    if lookup(name).withdrawn:
        return tuple(_load("withdrawn.json")[name]["zones"].get(known_region(region), ()))
    return tuple(_load("offerings.json")[known_region(region)]["types"].get(name, ()))


def regions_offering(name: str) -> tuple[str, ...]:
    """Return the regions that offer a type, sorted; the last known ones of a withdrawn type."""
    return tuple(region for region in all_regions() if zones_offering(name, region))


def all_regions() -> tuple[str, ...]:
    """Return every region of the snapshot, sorted."""
    return tuple(_load("offerings.json"))


def zone_ids(region: str) -> tuple[str, ...]:
    """Return every availability zone ID of a region, sorted; local zones are not among them.

    Raises:
        UnknownName: the snapshot does not know the region.
    """
    return tuple(_load("offerings.json")[known_region(region)]["zones"])


def known_region(region: str) -> str:
    """Return a region's name.

    Raises:
        UnknownName: the snapshot does not know the region; the message lists those that it does.
    """
    if region not in all_regions():
        raise UnknownName("region", region, all_regions())
    return region
