"""Which pins are behind a list of what is newest."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from trainshed.errors import UnknownName
from trainshed.pins.model import ANY, Pins

_PARTS = re.compile(r"[0-9]+|[A-Za-z]+|~")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A pin that is behind.

    Attributes:
        pin: its name, as `pinned_versions` writes it.
        pinned: version that is pinned.
        newest: version that the list has.
    """

    pin: str
    pinned: str
    newest: str


def pinned_versions(pins: Pins) -> dict[str, str]:
    """Return every pinned version by name.

    Names are `BASE` for a distribution's release, `COMPONENT` or, where bases differ,
    `COMPONENT@BASE`, `tool/NAME`, and `container/ACCELERATOR` for a container's base image.
    """
    return {
        **{name: base.release for name, base in pins.bases.items()},
        **dict(_components(pins)),
        **{
            f"tool/{field.alias or name}": getattr(pins.tools, name).version
            for name, field in type(pins.tools).model_fields.items()
        },
        **{f"container/{name}": base.tag for name, base in pins.containers.items()},
    }


def outdated(pins: Pins, newest: Mapping[str, str]) -> tuple[Outdated, ...]:
    """Return the pins that are behind a list, in the order of the pins.

    Args:
        pins: what is pinned.
        newest: newest version by name of a pin; `COMPONENT` also stands for each
            `COMPONENT@BASE`. Pins that it leaves out are not judged.

    Raises:
        UnknownName: the list has a name that no pin has.
    """
    pinned = pinned_versions(pins)
    known = {*pinned, *(name.partition("@")[0] for name in pinned)}
    for name in newest:
        if name not in known:
            raise UnknownName("pin", name, sorted(known))
    found = []
    for name, version in pinned.items():
        listed = newest.get(name, newest.get(name.partition("@")[0]))
        if listed is not None and _is_behind(version, listed):
            found.append(Outdated(pin=name, pinned=version, newest=listed))
    return tuple(found)


def _is_behind(version: str, listed: str) -> bool:
    # Commits have no order: another one is a newer one.
    return version != listed if _COMMIT.fullmatch(version) else is_older(version, listed)


def is_older(version: str, other: str) -> bool:
    """Say whether a version comes before another.

    Numbers are compared as numbers, words as words; a number comes after a word, and `~` before
    everything, even the end, as dpkg and rpm have it. What separates them does not matter.
    """
    for mine, its in zip_longest(_PARTS.findall(version), _PARTS.findall(other)):
        if mine != its and (order := _weight(mine)) != (its_order := _weight(its)):
            return order < its_order
    return False


def _weight(part: str | None) -> tuple[int, int, str]:
    if part == "~":
        return (0, 0, "")
    if part is None:
        return (1, 0, "")
    return (3, int(part), "") if part.isdigit() else (2, 0, part)


def _components(pins: Pins) -> Iterator[tuple[str, str]]:
    for name, component in pins.components.items():
        versions = component.versions()
        if len(set(versions.values())) == 1:
            yield name, next(iter(versions.values()))
            continue
        for base, version in versions.items():
            yield (name if base == ANY else f"{name}@{base}"), version
