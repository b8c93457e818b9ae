"""Instance types that are like another one, or that a wrong name probably means."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from math import log

from trainshed.catalogue.model import InstanceType, LifecycleStatus

_NAME = re.compile(r"(?P<series>[a-z]+)[a-z0-9-]*\.(?P<size>\d*)xlarge")


def most_like(instance: InstanceType, others: Iterable[InstanceType]) -> InstanceType:
    """Return the type whose maker and size are nearest to those of another type.

    Args:
        instance: what it should be like.
        others: to choose from, at least one.
    """

    def distance(other: InstanceType) -> tuple[object, ...]:
        return (
            other.accelerator.family is not instance.accelerator.family,
            _series(other) != _series(instance),
            _apart(other.accelerator.count, instance.accelerator.count),
            _apart(other.vcpus, instance.vcpus),
            other.family != instance.family,
            other.lifecycle.status is not LifecycleStatus.OFFERED,
            other.name,
        )

    return min(others, key=distance)


def likely_meant(name: str, types: Iterable[InstanceType]) -> InstanceType | None:
    """Return the type that a name probably means which is none: of its family, and as large.

    Of a family that is not there, one of the same letters: `p4.24xlarge` means one of P.

    Args:
        name: as it was given.
        types: all that there are.

    Returns: The type; None when the name does not have the form of one, or no type has its letters.
    """
    asked = _NAME.fullmatch(name.lower())
    if not asked:
        return None
    family, size = name.lower().partition(".")[0], _size(asked["size"])
    sized = [(each, found) for each in types if (found := _NAME.fullmatch(each.name))]
    related = [pair for pair in sized if pair[0].family == family] or [
        pair
        for pair in sized
        if pair[1]["series"] == asked["series"]
        and pair[0].lifecycle.status is LifecycleStatus.OFFERED
    ]

    def distance(pair: tuple[InstanceType, re.Match[str]]) -> tuple[float, float]:
        spelled_alike = SequenceMatcher(None, name.lower(), pair[0].name).ratio()
        return _apart(_size(pair[1]["size"]), size), -spelled_alike

    return min(related, key=distance)[0] if related else None


def _series(instance: InstanceType) -> str:
    """Return the letters that a name begins with: `p` of `p4d.24xlarge`."""
    return re.split(r"\d", instance.name)[0]


def _size(words: str) -> int:
    """Return how many times as large as `xlarge`."""
    return int(words or 1)


def _apart(one: int, other: int) -> float:
    return abs(log(max(one, 1) / max(other, 1)))
