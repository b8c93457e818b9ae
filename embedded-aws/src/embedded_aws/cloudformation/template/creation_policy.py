"""How many signals a resource waits for when it is created, and for how long.

CloudFormation user guide, "CreationPolicy attribute": the types that have one, the form of the
time-out and its limit, the defaults. Inferred: the words of refusals.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import regex

from embedded_aws.cloudformation.errors import ValidationError

ATTRIBUTE: Final = "CreationPolicy"
_GROUP: Final = "AWS::AutoScaling::AutoScalingGroup"
_CONDITION: Final = "AWS::CloudFormation::WaitCondition"
_TYPES: Final = (_GROUP, _CONDITION, "AWS::EC2::Instance")
_DURATION: Final = regex.compile(r"PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
_LONGEST: Final = 12 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationPolicy:
    """What a new resource waits for.

    Attributes:
        count: signals.
        seconds: within which they come.
        percent: of the signals that must say SUCCESS; None where one FAILURE is one too many.
    """

    count: int = 1
    seconds: int = 300
    percent: int | None = None


def check_creation_policy(logical_id: str, definition: Mapping[str, Any]) -> None:
    """Refuse a policy that CloudFormation does not take, and a wait condition that needs one.

    Args:
        logical_id: of the resource.
        definition: the resource in the template, its policies evaluated.

    Raises:
        ValidationError: says what is wrong.
    """
    creation_policy(logical_id, definition)
    handle = "Handle" in definition.get("Properties", {})
    if definition["Type"] == _CONDITION and ATTRIBUTE not in definition and not handle:
        raise _wrong(logical_id, "a wait condition without Handle and Timeout needs one")


def creation_policy(logical_id: str, definition: Mapping[str, Any]) -> CreationPolicy | None:
    """Return the policy of a resource that waits for signals, or None.

    Args:
        logical_id: of the resource.
        definition: the resource in the template, with functions evaluated.

    Raises:
        ValidationError: the policy is not one that CloudFormation takes.
    """
    policy = definition.get(ATTRIBUTE)
    if policy is None:
        return None
    kind = definition["Type"]
    if kind not in _TYPES:
        raise _wrong(logical_id, f"resources of type {kind} have none")
    known = ["ResourceSignal", *(["AutoScalingCreationPolicy"] if kind == _GROUP else [])]
    parts = _members(logical_id, policy, ATTRIBUTE, known)
    signal = _members(
        logical_id, parts.get("ResourceSignal", {}), "ResourceSignal", ["Count", "Timeout"]
    )
    percent = None
    if kind == _GROUP:
        name = "MinSuccessfulInstancesPercent"
        group = parts.get("AutoScalingCreationPolicy", {})
        given = _members(logical_id, group, "AutoScalingCreationPolicy", [name])
        percent = _number(logical_id, name, given.get(name, 100))
        if percent > 100:
            raise _wrong(logical_id, f"{name} is at most 100, got {percent}")
    if "ResourceSignal" not in parts:
        return None
    return CreationPolicy(
        count=_number(logical_id, "Count", signal.get("Count", 1)),
        seconds=_duration(logical_id, signal.get("Timeout", "PT5M")),
        percent=percent,
    )


def _members(logical_id: str, found: Any, name: str, known: list[str]) -> Mapping[str, Any]:
    if not isinstance(found, Mapping) or set(found).difference(known):
        raise _wrong(logical_id, f"{name} is an object with {' and '.join(known)}, got {found}")
    return found


def _number(logical_id: str, name: str, found: Any) -> int:
    if isinstance(found, bool) or not str(found).isdecimal():
        raise _wrong(logical_id, f"{name} is a whole number from 0, got {found}")
    return int(found)


def _duration(logical_id: str, found: Any) -> int:
    match = _DURATION.fullmatch(str(found))
    if match is None:
        raise _wrong(logical_id, f"Timeout is a duration of the form PT#H#M#S, got {found}")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    total = hours * 3600 + minutes * 60 + seconds
    if total > _LONGEST:
        raise _wrong(logical_id, f"Timeout is at most PT12H, got {found}")
    return total


def _wrong(logical_id: str, why: str) -> ValidationError:
    return ValidationError(f"Invalid {ATTRIBUTE} of resource {logical_id}: {why}")
