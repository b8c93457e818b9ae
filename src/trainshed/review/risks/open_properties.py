"""Properties that open a resource, or no longer close it."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from functools import cache
from importlib.resources import files
from typing import Any

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import Affected, at, is_true, leaves_of
from trainshed.review.risks.world import openness

_BRANCH = re.compile(r"\.Fn::If\[[12]\]")
# What a value means, and what to do about it.
Meaning = tuple[str, str]


def open_properties(affected: Affected) -> Iterator[Risk]:
    """Yield what differs in the properties of a resource, and opens it."""
    if affected.change.effect is Effect.REMOVED:
        return
    old, new = (_values(side.get("Properties", {})) for side in (affected.old, affected.new))
    found: dict[Meaning, None] = {}
    for path, values in new.items():
        for entry in _entries("opens", path, values - old.get(path, set())):
            if affected.old or "fine_when_new" not in entry:
                found[_meaning(entry)] = None
    for path, values in old.items():
        now = new.get(path, set())
        if now == values or _entries("opens", path, now) or _left_its_list(path, new):
            continue
        for entry in _entries("closes", path, values):
            found[_meaning(entry)] = None
    for name in _table()["encrypts"]:
        if name in affected.old.get("Properties", {}) and name not in affected.new.get(
            "Properties", {}
        ):
            ask = _table()["ask"]["encrypt"]
            found[f"it is no longer encrypted as {name} says", ask] = None
    if affected.change.resource_type == "AWS::EKS::Cluster":
        before, after = (_kubernetes_for_anybody(side) for side in (affected.old, affected.new))
        if after and not before:
            found["everybody reaches its API server", _table()["ask"]["public"]] = None
    for message, remedy in found:
        yield affected.risk(RiskKind.OPEN_TO_THE_WORLD, Level.HIGH, message, remedy)


def _entries(section: str, path: str, values: Set[str]) -> list[Mapping[str, Any]]:
    return [
        entry
        for entry in _table()[section]
        if entry["value"] in values and f".{path}".endswith(f".{entry['property']}")
    ]


def _meaning(entry: Mapping[str, Any]) -> Meaning:
    return entry["means"], _table()["ask"][entry["ask"]]


def _left_its_list(path: str, new: Mapping[str, object]) -> bool:
    """Return whether the element of a list that a property was in is gone, but not the list."""
    found = re.match(r"(?P<list>.*\[)\d+\]", path)
    if not found:
        return False
    elements, element = (
        any(other.startswith(start) for other in new) for start in (found["list"], found[0])
    )
    return elements and not element


def _kubernetes_for_anybody(cluster: Mapping[str, Any]) -> bool:
    """Return whether every address reaches the API server, as is the default."""
    network = at(cluster, "ResourcesVpcConfig")
    if not isinstance(network, Mapping) or not is_true(network.get("EndpointPublicAccess", True)):
        return False
    ranges = network.get("PublicAccessCidrs", ["0.0.0.0/0"])
    return isinstance(ranges, list) and openness(map(str, ranges)) is not None


def _values(properties: Mapping[str, object]) -> dict[str, set[str]]:
    """Return the innermost properties by path, as CloudFormation takes them.

    One that depends on a condition may have either value.
    """
    found: dict[str, set[str]] = {}
    for path, each in leaves_of(properties):
        found.setdefault(_BRANCH.sub("", path), set()).add(str(each).lower())
    return found


@cache
def _table() -> Mapping[str, Any]:
    text = files(__package__).joinpath("exposure.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
