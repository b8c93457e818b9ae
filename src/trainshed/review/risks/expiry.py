"""Rules that delete data by their age or number, or archive it, from the deployment on."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import Affected, at, is_true

_EXPIRES = ("ExpirationInDays", "ExpirationDate")
# What narrows a rule of a bucket down to a part of it. An empty prefix is all.
_NARROWING = ("Prefix", "TagFilters", "ObjectSizeGreaterThan", "ObjectSizeLessThan")
_ASK = "ask whether anybody still needs what goes"
# Classes whose objects are read after a restore only.
_ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")


def expiry(affected: Affected) -> Iterator[Risk]:
    """Yield rules that are new, and delete or archive what was there before the change."""
    if affected.change.effect is not Effect.CHANGED or not affected.old:
        return
    match affected.change.resource_type:
        case "AWS::S3::Bucket":
            yield from _of_objects(affected)
        case "AWS::ECR::Repository":
            yield from _of_images(affected)
        case "AWS::DynamoDB::Table" | "AWS::DynamoDB::GlobalTable":
            yield from _of_items(affected)


def _of_objects(affected: Affected) -> Iterator[Risk]:
    old = [_without_name(rule) for rule in _rules(affected.old)]
    for rule in _rules(affected.new):
        if rule.get("Status") != "Enabled" or _without_name(rule) in old:
            continue
        expires = next((rule[name] for name in _EXPIRES if name in rule), None)
        narrowed = any(rule.get(name) for name in _NARROWING)
        prefix = f" that begin with {rule['Prefix']}" if rule.get("Prefix") else ""
        which = f"objects{prefix}" if prefix else "some objects" if narrowed else "all objects"
        if expires is not None:
            when = f"after {expires} days" if "ExpirationInDays" in rule else f"on {expires}"
            yield affected.risk(
                RiskKind.DATA_LOSS,
                Level.MEDIUM if narrowed else Level.HIGH,
                f"{which} are deleted {when} (LifecycleConfiguration)",
                _ASK,
            )
        if archive := _archive(rule):
            yield affected.risk(
                RiskKind.DATA_LOSS,
                Level.MEDIUM,
                f"{which} go to {archive}, where they cannot be read until they are restored "
                "(LifecycleConfiguration)",
                "ask whether jobs still read them; GLACIER_IR can be read at once",
            )


def _archive(rule: Mapping[str, Any]) -> str | None:
    """Return the first archive that a rule moves objects to, and when."""
    steps = rule.get("Transitions")
    for step in steps if isinstance(steps, list) else ():
        storage_class = step.get("StorageClass") if isinstance(step, Mapping) else None
        if storage_class in _ARCHIVES:
            days = step.get("TransitionInDays")
            return f"{storage_class} after {days} days" if days else str(storage_class)
    return None


def _rules(bucket: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = at(bucket, "LifecycleConfiguration.Rules")
    return [rule for rule in found if isinstance(rule, Mapping)] if isinstance(found, list) else []


def _without_name(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in rule.items() if name != "Id"}


def _of_images(affected: Affected) -> Iterator[Risk]:
    old, new = (_image_rules(side) for side in (affected.old, affected.new))
    for rule in new:
        if rule not in old and rule.get("tagStatus") == "any":
            counted = f"{rule.get('countType')} {rule.get('countNumber')}"
            yield affected.risk(
                RiskKind.DATA_LOSS,
                Level.MEDIUM,
                f"images are deleted whatever their tag ({counted}, LifecyclePolicy)",
                "ask whether images that are in use are among them",
            )


def _image_rules(repository: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    text = at(repository, "LifecyclePolicy.LifecyclePolicyText")
    if not isinstance(text, str):
        return []
    try:
        return [rule["selection"] for rule in json.loads(text)["rules"]]
    except (ValueError, LookupError, TypeError):  # AWS will say what is wrong with it
        return []


def _of_items(affected: Affected) -> Iterator[Risk]:
    path = "TimeToLiveSpecification.Enabled"
    if is_true(at(affected.new, path)) and not is_true(at(affected.old, path)):
        name = at(affected.new, "TimeToLiveSpecification.AttributeName")
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.MEDIUM,
            f"items are deleted at the time in their attribute {name} (TimeToLiveSpecification)",
            _ASK,
        )
