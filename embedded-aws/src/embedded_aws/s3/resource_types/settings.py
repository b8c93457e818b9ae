"""The settings of a bucket: each template property and the pair of API calls behind it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore import xform_name

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.resource import HandlerError

# JSON of a template or of the API, without types.
Shape = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSetting:
    """One setting.

    Attributes:
        operation: the API's name of the call that sets it, for instance `PutBucketEncryption`.
        argument: the argument that holds the value.
        remove: boto3's method that removes the setting; None if S3 has no such call.
        neutral: if there is no such call, the template's value that has the same effect.
        reshape: converts the template's value to the API's.
    """

    operation: str
    argument: str
    remove: str | None = None
    neutral: Any = None
    reshape: Callable[[Any], Any] = dict

    def put(self, s3: Any, bucket: str, value: Any) -> None:
        """Set the template's value."""
        taken = arguments(s3, self.operation, {self.argument: self.reshape(value)})
        getattr(s3, xform_name(self.operation))(Bucket=bucket, **taken)

    def clear(self, s3: Any, bucket: str) -> None:
        """Reset the setting to that of a new bucket."""
        if self.remove:
            getattr(s3, self.remove)(Bucket=bucket)
        else:
            self.put(s3, bucket, self.neutral)


def _renamed(value: Shape, **names: str) -> dict[str, Any]:
    return {names.get(key, key): part for key, part in value.items()}


def _encryption(value: Shape) -> dict[str, Any]:
    return {
        "Rules": [
            _renamed(rule, ServerSideEncryptionByDefault="ApplyServerSideEncryptionByDefault")
            for rule in value["ServerSideEncryptionConfiguration"]
        ]
    }


def _cors(value: Shape) -> dict[str, Any]:
    rules = [
        _renamed(rule, ExposedHeaders="ExposeHeaders", MaxAge="MaxAgeSeconds")
        for rule in value["CorsRules"]
    ]
    return {"CORSRules": rules}


def _logging(value: Shape) -> dict[str, Any]:
    if not value:
        return {}
    target = _renamed(value, DestinationBucketName="TargetBucket", LogFilePrefix="TargetPrefix")
    return {"LoggingEnabled": {"TargetPrefix": "", **target}}


def _notification(value: Shape) -> dict[str, Any]:
    if others := set(value) - {"EventBridgeConfiguration"}:
        raise HandlerError(f"the embedded AWS cannot set {', '.join(sorted(others))} of a bucket")
    return {name: {} for name in value}


def _lifecycle(value: Shape) -> dict[str, Any]:
    return {"Rules": [_lifecycle_rule(dict(rule)) for rule in value["Rules"]]}


def _lifecycle_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """Nest what is flat in a template: the filter, the expiration, single transitions."""
    expiration = _taken(
        rule,
        ExpirationDate="Date",
        ExpirationInDays="Days",
        ExpiredObjectDeleteMarker="ExpiredObjectDeleteMarker",
    )
    conditions = _taken(
        rule,
        Prefix="Prefix",
        TagFilters="Tags",
        ObjectSizeGreaterThan="ObjectSizeGreaterThan",
        ObjectSizeLessThan="ObjectSizeLessThan",
    )
    old_versions = _taken(rule, NoncurrentVersionExpirationInDays="NoncurrentDays")
    transitions = rule.pop("Transitions", []) + [
        rule.pop(name) for name in ("Transition",) if name in rule
    ]
    old_transitions = rule.pop("NoncurrentVersionTransitions", []) + [
        rule.pop(name) for name in ("NoncurrentVersionTransition",) if name in rule
    ]
    one = len(conditions) <= 1 and "Tags" not in conditions
    rule["Filter"] = (conditions or {"Prefix": ""}) if one else {"And": conditions}
    if expiration:
        rule["Expiration"] = expiration
    if old_versions:
        rule["NoncurrentVersionExpiration"] = old_versions
    if transitions:
        rule["Transitions"] = [
            _renamed(step, TransitionInDays="Days", TransitionDate="Date") for step in transitions
        ]
    if old_transitions:
        rule["NoncurrentVersionTransitions"] = [
            _renamed(step, TransitionInDays="NoncurrentDays") for step in old_transitions
        ]
    return rule


def _taken(rule: dict[str, Any], **names: str) -> dict[str, Any]:
    return {new: rule.pop(old) for old, new in names.items() if old in rule}


def _canned_acl(value: str) -> str:
    """Return `public-read` for `PublicRead`."""
    return str(xform_name(value, "-"))


SETTINGS: Mapping[str, BucketSetting] = {
    "OwnershipControls": BucketSetting(
        operation="PutBucketOwnershipControls",
        argument="OwnershipControls",
        remove="delete_bucket_ownership_controls",
    ),
    "PublicAccessBlockConfiguration": BucketSetting(
        operation="PutPublicAccessBlock",
        argument="PublicAccessBlockConfiguration",
        remove="delete_public_access_block",
    ),
    "AccessControl": BucketSetting(
        operation="PutBucketAcl", argument="ACL", neutral="Private", reshape=_canned_acl
    ),
    "BucketEncryption": BucketSetting(
        operation="PutBucketEncryption",
        argument="ServerSideEncryptionConfiguration",
        remove="delete_bucket_encryption",
        reshape=_encryption,
    ),
    "VersioningConfiguration": BucketSetting(
        operation="PutBucketVersioning",
        argument="VersioningConfiguration",
        neutral={"Status": "Suspended"},
    ),
    "LifecycleConfiguration": BucketSetting(
        operation="PutBucketLifecycleConfiguration",
        argument="LifecycleConfiguration",
        remove="delete_bucket_lifecycle",
        reshape=_lifecycle,
    ),
    "CorsConfiguration": BucketSetting(
        operation="PutBucketCors",
        argument="CORSConfiguration",
        remove="delete_bucket_cors",
        reshape=_cors,
    ),
    "LoggingConfiguration": BucketSetting(
        operation="PutBucketLogging",
        argument="BucketLoggingStatus",
        neutral={},
        reshape=_logging,
    ),
    "NotificationConfiguration": BucketSetting(
        operation="PutBucketNotificationConfiguration",
        argument="NotificationConfiguration",
        neutral={},
        reshape=_notification,
    ),
}
