"""The settings of a bucket: each template property and the pair of API calls behind it."""

from collections.abc import Mapping
from typing import Any

from botocore import xform_name

from embedded_aws.cloudformation.handlers.handler import renamed
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.resource import HandlerError

# JSON of a template or of the API, without types.
Shape = Mapping[str, Any]

_ALL_OVER_128K = "all_storage_classes_128K"


def _encryption(value: Shape) -> dict[str, Any]:
    return {
        "Rules": [
            renamed(rule, ServerSideEncryptionByDefault="ApplyServerSideEncryptionByDefault")
            for rule in value["ServerSideEncryptionConfiguration"]
        ]
    }


def _cors(value: Shape) -> dict[str, Any]:
    rules = [
        renamed(rule, ExposedHeaders="ExposeHeaders", MaxAge="MaxAgeSeconds")
        for rule in value["CorsRules"]
    ]
    return {"CORSRules": rules}


def _logging(value: Shape) -> dict[str, Any]:
    if not value:
        return {}
    target = renamed(value, DestinationBucketName="TargetBucket", LogFilePrefix="TargetPrefix")
    return {"LoggingEnabled": {"TargetPrefix": "", **target}}


def _notification(value: Shape) -> dict[str, Any]:
    if others := set(value) - {"EventBridgeConfiguration"}:
        raise HandlerError(f"the embedded AWS cannot set {', '.join(sorted(others))} of a bucket")
    return {name: {} for name in value}


def _lifecycle(value: Shape) -> dict[str, Any]:
    size = "TransitionDefaultMinimumObjectSize"
    if value.get(size, _ALL_OVER_128K) != _ALL_OVER_128K:
        raise HandlerError(f"the embedded AWS cannot set {size} of a bucket")
    return {"Rules": [_lifecycle_rule(dict(rule)) for rule in value["Rules"]]}


def _lifecycle_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """Nest what is flat in a template: the filter, the expiration, single transitions."""
    conditions = _taken(
        rule,
        Prefix="Prefix",
        TagFilters="Tags",
        ObjectSizeGreaterThan="ObjectSizeGreaterThan",
        ObjectSizeLessThan="ObjectSizeLessThan",
    )
    tags = conditions.get("Tags", [])
    if len(conditions) + max(len(tags) - 1, 0) > 1:
        rule["Filter"] = {"And": conditions}
    else:
        rule["Filter"] = {"Tag": tags[0]} if tags else conditions or {"Prefix": ""}
    nested = {
        "Expiration": _taken(
            rule,
            ExpirationDate="Date",
            ExpirationInDays="Days",
            ExpiredObjectDeleteMarker="ExpiredObjectDeleteMarker",
        ),
        "NoncurrentVersionExpiration": _taken(
            rule, NoncurrentVersionExpirationInDays="NoncurrentDays"
        ),
        "Transitions": [
            renamed(step, TransitionInDays="Days", TransitionDate="Date")
            for step in _all_of(rule, "Transition")
        ],
        "NoncurrentVersionTransitions": [
            renamed(step, TransitionInDays="NoncurrentDays")
            for step in _all_of(rule, "NoncurrentVersionTransition")
        ],
    }
    return rule | {name: part for name, part in nested.items() if part}


def _taken(rule: dict[str, Any], **names: str) -> dict[str, Any]:
    return {new: rule.pop(old) for old, new in names.items() if old in rule}


def _all_of(rule: dict[str, Any], name: str) -> list[Any]:
    """Take out a list, and the single entry that a template may write beside it."""
    entries: list[Any] = rule.pop(f"{name}s", [])
    return [*entries, rule.pop(name)] if name in rule else entries


def _canned_acl(value: str) -> str:
    """Return `public-read` for `PublicRead`."""
    return str(xform_name(value, "-"))


SETTINGS: Mapping[str, Setting] = {
    "OwnershipControls": Setting(
        put="PutBucketOwnershipControls", remove="DeleteBucketOwnershipControls"
    ),
    "PublicAccessBlockConfiguration": Setting(
        put="PutPublicAccessBlock", remove="DeletePublicAccessBlock"
    ),
    "AccessControl": Setting(
        put="PutBucketAcl", argument="ACL", neutral="Private", reshape=_canned_acl
    ),
    "BucketEncryption": Setting(
        put="PutBucketEncryption",
        argument="ServerSideEncryptionConfiguration",
        remove="DeleteBucketEncryption",
        reshape=_encryption,
    ),
    "VersioningConfiguration": Setting(put="PutBucketVersioning", neutral={"Status": "Suspended"}),
    "LifecycleConfiguration": Setting(
        put="PutBucketLifecycleConfiguration", remove="DeleteBucketLifecycle", reshape=_lifecycle
    ),
    "CorsConfiguration": Setting(put="PutBucketCors", remove="DeleteBucketCors", reshape=_cors),
    "LoggingConfiguration": Setting(
        put="PutBucketLogging", argument="BucketLoggingStatus", neutral={}, reshape=_logging
    ),
    "NotificationConfiguration": Setting(
        put="PutBucketNotificationConfiguration", neutral={}, reshape=_notification
    ),
}
