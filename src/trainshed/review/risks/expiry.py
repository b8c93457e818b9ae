"""Rules that delete data by their age or number, from the deployment on."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import Affected, at, is_true

_EXPIRES = ("ExpirationInDays", "ExpirationDate")
# What narrows a rule of a bucket down to a part of it. An empty prefix is all.
_NARROWING = ("Prefix", "TagFilters", "ObjectSizeGreaterThan", "ObjectSizeLessThan")
_ASK = "ask whether anybody still needs what goes"


def expiry(affected: Affected) -> Iterator[Risk]:
    """Yield rules that are new, and delete what was there before the change."""
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
        expires = next((rule[name] for name in _EXPIRES if name in rule), None)
        if rule.get("Status") != "Enabled" or expires is None or _without_name(rule) in old:
            continue
        when = f"after {expires} days" if "ExpirationInDays" in rule else f"on {expires}"
        narrowed = any(rule.get(name) for name in _NARROWING)
        prefix = f" that begin with {rule['Prefix']}" if rule.get("Prefix") else ""
        which = f"objects{prefix}" if prefix else "some objects" if narrowed else "all objects"
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.MEDIUM if narrowed else Level.HIGH,
            f"{which} are deleted {when} (LifecycleConfiguration)",
            _ASK,
        )


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
