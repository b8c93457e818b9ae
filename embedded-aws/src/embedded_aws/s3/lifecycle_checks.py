"""What S3 refuses about a lifecycle configuration.

S3 user guide, "Lifecycle configuration elements": the actions. The words and codes: LocalStack's
tests TestS3BucketLifecycle, recorded against S3 in February 2026; for the 30 and 90 days between
transitions, messages that users of Terraform quote. From memory: the code for Days and Date in one
rule. Inferred: what holds for current versions and has no record for noncurrent ones.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from moto.s3.exceptions import MalformedXML, S3ClientError

from embedded_aws.s3.lifecycle_filters import Filter, Rule, well_formed
from embedded_aws.s3.storage_classes import COLDER, INFREQUENT, KEPT_DAYS

_MOST_RULES = 1000
_MOST_ID = 255
_MOST_BYTES = 1_099_511_627_776_000
_ACTIONS = (
    "Expiration",
    "Transitions",
    "NoncurrentVersionExpiration",
    "NoncurrentVersionTransitions",
    "AbortIncompleteMultipartUpload",
)


def check_rules(rules: Sequence[Rule]) -> None:
    """Refuse rules of a lifecycle configuration.

    Raises:
        S3ClientError: as S3 does.
    """
    if not rules or len(rules) > _MOST_RULES or not all(map(well_formed, rules)):
        raise MalformedXML
    ids = [rule["ID"] for rule in rules if "ID" in rule]
    if any(len(rule_id) > _MOST_ID for rule_id in ids):
        raise _argument(f"ID length should not exceed allowed limit of {_MOST_ID}")
    if len(ids) != len(set(ids)):
        raise _argument("Rule ID must be unique. Found same ID for more than one rule")
    if len({"Filter" in rule for rule in rules}) > 1:
        raise _request(
            "Base level prefix cannot be used in Lifecycle V2, prefixes are only supported in the "
            "Filter."
        )
    for rule in rules:
        _check_rule(rule)


def _check_rule(rule: Rule) -> None:
    if not any(rule.get(name) for name in _ACTIONS):
        raise _request("At least one action needs to be specified in a rule")
    found = Filter.of(rule)
    _check_filter(rule, found)
    expiration, transitions = rule.get("Expiration"), rule.get("Transitions", [])
    _check_expiration(expiration)
    for each in transitions:
        _check_transition(each)
    if len({each["StorageClass"] for each in transitions}) < len(transitions):
        raise _request(
            "'StorageClass' must be different for 'Transition' actions in same 'Rule' with filter "
            f"'{found.text}'"
        )
    timed = [*transitions, *([expiration] if expiration else [])]
    if {"Days", "Date"} <= {name for each in timed for name in each}:
        raise _request(
            "Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle "
            f"rule for filter '{found.text}'"
        )
    for name in ("Days", "Date"):
        _check_order(transitions, name, "Transition", found)
        dates = [each[name] for each in transitions if name in each]
        if expiration and name in expiration and dates and expiration[name] <= max(dates):
            raise _argument(
                f"'{name}' in the Expiration action for filter '{found.text}' must be greater than "
                f"'{name}' in the Transition action"
            )
    _check_noncurrent(rule, found)
    _check_abort(rule.get("AbortIncompleteMultipartUpload"))


def _check_filter(rule: Rule, found: Filter) -> None:
    tags = rule.get("Filter", {}).get("And", {}).get("Tags", [])
    if len({tag["Key"] for tag in tags}) < len(tags):
        raise _request("Duplicate Tag Keys are not allowed.")
    if found.less_than is not None and not 1 <= found.less_than <= _MOST_BYTES:
        raise _request(f"'ObjectSizeLessThan' should be between 1 and {_MOST_BYTES}.")
    if None not in (found.more_than, found.less_than) and found.less_than <= found.more_than:  # type: ignore[operator]
        raise _request(
            "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'."
        )
    for name, given in (
        ("AbortIncompleteMultipartUpload", "AbortIncompleteMultipartUpload" in rule),
        ("ExpiredObjectDeleteMarker", "ExpiredObjectDeleteMarker" in rule.get("Expiration", {})),
    ):
        if given and found.tags:
            raise _request(f"{name} cannot be specified with Tags.")
        if given and found.has_sizes:
            raise _request(f"{name} cannot be specified with Object Size.")


def _check_expiration(expiration: Mapping[str, Any] | None) -> None:
    if expiration is None:
        return
    if len(expiration) != 1:
        raise MalformedXML
    if expiration.get("Days", 1) < 1:
        raise _argument("'Days' for Expiration action must be a positive integer")
    _check_date(expiration)


def _check_transition(transition: Mapping[str, Any]) -> None:
    if "StorageClass" not in transition or ("Days" in transition) == ("Date" in transition):
        raise MalformedXML
    days, storage_class = transition.get("Days"), transition["StorageClass"]
    if days is not None and days < 0:
        raise _argument("'Days' for Transition action must be a nonnegative integer")
    if days is not None and storage_class in INFREQUENT and days < KEPT_DAYS[storage_class]:
        raise _argument(
            "'Days' in Transition action must be greater than or equal to 30 for storageClass "
            f"'{storage_class}'"
        )
    _check_date(transition)


def _check_date(action: Mapping[str, Any]) -> None:
    date: datetime | None = action.get("Date")
    if date and (date.hour, date.minute, date.second, date.microsecond) != (0, 0, 0, 0):
        raise _argument("'Date' must be at midnight GMT")


def _check_order(
    transitions: Sequence[Mapping[str, Any]], name: str, action: str, found: Filter
) -> None:
    """Refuse a transition to a colder class that is not late enough after that to a warmer one."""
    for warm in transitions:
        for cold in transitions:
            if name not in warm or name not in cold:
                continue
            if cold["StorageClass"] not in COLDER[warm["StorageClass"]]:
                continue
            gap = cold[name] - warm[name]
            days = gap if isinstance(gap, int) else gap.days
            # Nothing waits in a class that keeps objects for no time, but the order is the same.
            least = KEPT_DAYS.get(warm["StorageClass"], 1)
            if days < least:
                raise _argument(
                    f"'{name}' in the '{action}' action for StorageClass '{cold['StorageClass']}' "
                    f"for filter '{found.text}' must be {least} days more than 'filter "
                    f"'{found.text}'' in the '{action}' action for StorageClass "
                    f"'{warm['StorageClass']}'"
                )


def _check_noncurrent(rule: Rule, found: Filter) -> None:
    expiration = rule.get("NoncurrentVersionExpiration")
    transitions = rule.get("NoncurrentVersionTransitions", [])
    if expiration is not None:
        if "NoncurrentDays" not in expiration:
            raise MalformedXML
        if expiration["NoncurrentDays"] < 1:
            raise _argument(
                "'NoncurrentDays' for NoncurrentVersionExpiration action must be a positive integer"
            )
    for each in transitions:
        if not {"NoncurrentDays", "StorageClass"} <= each.keys():
            raise MalformedXML
        days, storage_class = each["NoncurrentDays"], each["StorageClass"]
        if storage_class in INFREQUENT and days < KEPT_DAYS[storage_class]:
            raise _argument(
                "'NoncurrentDays' in NoncurrentVersionTransition action must be greater than or "
                f"equal to 30 for storageClass '{storage_class}'"
            )
    _check_order(transitions, "NoncurrentDays", "NoncurrentVersionTransition", found)
    if expiration and any(
        each["NoncurrentDays"] >= expiration["NoncurrentDays"] for each in transitions
    ):
        raise _argument(
            "'NoncurrentDays' in the NoncurrentVersionExpiration action for filter "
            f"'{found.text}' must be greater than 'NoncurrentDays' in the "
            "NoncurrentVersionTransition action"
        )
    for each in (*transitions, *([expiration] if expiration else [])):
        if "NewerNoncurrentVersions" in each and "Filter" not in rule:
            raise _request("NewerNoncurrentVersions element can only be used in Lifecycle V2.")


def _check_abort(abort: Mapping[str, Any] | None) -> None:
    if abort is None:
        return
    if "DaysAfterInitiation" not in abort:
        raise MalformedXML
    if abort["DaysAfterInitiation"] < 1:
        raise _argument(
            "'DaysAfterInitiation' for AbortIncompleteMultipartUpload action must be a positive "
            "integer"
        )


def _argument(message: str) -> S3ClientError:
    return S3ClientError("InvalidArgument", message)


def _request(message: str) -> S3ClientError:
    return S3ClientError("InvalidRequest", message)
