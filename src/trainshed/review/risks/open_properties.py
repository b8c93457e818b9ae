"""Properties that open a resource, or no longer close it."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from trainshed.review.model import Level, Risk, RiskKind
from trainshed.review.risks.affected import Affected, at, is_true, leaves_of
from trainshed.review.risks.world import openness
from trainshed.template_changes import Effect

# What a value means, and what to do about it.
Meaning = tuple[str, str]


def open_properties(affected: Affected) -> Iterator[Risk]:
    """Yield what differs in the properties of a resource, and opens it."""
    if affected.change.effect is Effect.REMOVED:
        return
    old, new = (_values(side.get("Properties", {})) for side in (affected.old, affected.new))
    found: dict[Meaning, None] = {}
    for path, value in new.items():
        entry = _entry("opens", path, value)
        if entry and old.get(path) != value and (affected.old or "fine_when_new" not in entry):
            found[_meaning(entry)] = None
    for path, value in old.items():
        entry = _entry("closes", path, value)
        now = new.get(path)
        opens = now is not None and _entry("opens", path, now)
        if entry and now != value and not opens and not _left_its_list(path, new):
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


def _entry(section: str, path: str, value: str) -> Mapping[str, Any] | None:
    return next(
        (
            entry
            for entry in _table()[section]
            if entry["value"] == value and f".{path}".endswith(f".{entry['property']}")
        ),
        None,
    )


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


def _values(properties: Mapping[str, object]) -> dict[str, str]:
    """Return the innermost properties by path, with values as CloudFormation takes them."""
    return {path: str(each).lower() for path, each in leaves_of(properties)}


@cache
def _table() -> Mapping[str, Any]:
    text = files(__package__).joinpath("exposure.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
