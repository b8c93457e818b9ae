"""The instances that a command's targets name.

Systems Manager API reference, Target: `tag:NAME` with values, `tag-key`, `InstanceIds`; instances
have to match each of the targets.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from embedded_aws.actions import Refusal

_Target = Mapping[str, Any]


def tags_of(instance: Any) -> dict[str, str]:
    """Return the tags of moto's instance."""
    return {tag["key"]: tag["value"] for tag in instance.get_tags()}


def matching(instances: Iterable[Any], targets: Sequence[_Target]) -> list[Any]:
    """Return those of moto's instances that match all targets.

    Raises:
        Refusal: a target is of another kind.
    """
    return [each for each in instances if all(_matches(each, target) for target in targets)]


def _matches(instance: Any, target: _Target) -> bool:
    key, values = target["Key"], target.get("Values", [])
    if key == "InstanceIds":
        return instance.id in values
    if key == "tag-key":
        return not tags_of(instance).keys().isdisjoint(values)
    if key.startswith("tag:"):
        return tags_of(instance).get(key.removeprefix("tag:")) in values
    raise Refusal(
        "InvalidTarget", f"The embedded AWS has no targets {key}; use tag:NAME or InstanceIds."
    )
