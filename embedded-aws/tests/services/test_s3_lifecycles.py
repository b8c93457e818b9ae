"""Lifecycle configurations of S3 buckets: what S3 keeps and refuses."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

Params = dict[str, Any]
Refusal = Callable[..., Any]
ALL = {"Filter": {"Prefix": ""}}
MALFORMED = "The XML you provided was not well-formed"


@pytest.fixture
def s3(client: Callable[..., Any]) -> Any:
    return client("s3")


@pytest.fixture
def bucket(s3: Any, name: str) -> str:
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    return name


def put(s3: Any, bucket: str, *rules: Params, **more: Any) -> Any:
    configuration = {"Rules": [{"Status": "Enabled", **rule} for rule in rules]}
    return s3.put_bucket_lifecycle_configuration(
        Bucket=bucket, LifecycleConfiguration=configuration, **more
    )


def moved(*steps: tuple[int, str]) -> list[Params]:
    return [{"Days": days, "StorageClass": storage_class} for days, storage_class in steps]


def test_rules_come_back_as_they_were_put(s3: Any, bucket: str, refusal: Refusal) -> None:
    rule: Params = {
        "ID": "archive",
        "Status": "Enabled",
        "Filter": {"And": {"Prefix": "logs/", "ObjectSizeGreaterThan": 0}},
        "Transitions": moved((30, "STANDARD_IA"), (60, "GLACIER_IR"), (150, "DEEP_ARCHIVE")),
        "Expiration": {"Days": 365},
        "NoncurrentVersionTransitions": [{"NoncurrentDays": 30, "StorageClass": "GLACIER"}],
        "NoncurrentVersionExpiration": {"NoncurrentDays": 90, "NewerNoncurrentVersions": 3},
    }
    abort: Params = {**ALL, "Status": "Enabled"}
    abort["AbortIncompleteMultipartUpload"] = {"DaysAfterInitiation": 7}
    varies = {"TransitionDefaultMinimumObjectSize": "varies_by_storage_class"}

    answer = put(s3, bucket, rule, abort, **varies)
    found = s3.get_bucket_lifecycle_configuration(Bucket=bucket)
    s3.delete_bucket_lifecycle(Bucket=bucket)

    assert answer["TransitionDefaultMinimumObjectSize"] == "varies_by_storage_class"
    assert found["TransitionDefaultMinimumObjectSize"] == "varies_by_storage_class"
    assert found["Rules"][0] == rule
    assert len(found["Rules"][1].pop("ID")) == 48
    assert found["Rules"][1] == abort
    gone = refusal(s3.get_bucket_lifecycle_configuration, Bucket=bucket)
    assert gone.code == "NoSuchLifecycleConfiguration"


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        pytest.param(ALL, "InvalidRequest", "At least one action needs", id="no-action"),
        pytest.param({"Expiration": {"Days": 1}}, "MalformedXML", MALFORMED, id="no-filter"),
        pytest.param(
            {"Filter": {"And": {"Prefix": "a"}}, "Expiration": {"Days": 1}},
            "MalformedXML",
            MALFORMED,
            id="and-of-one",
        ),
        pytest.param(
            {"Filter": {"Prefix": "a", "ObjectSizeGreaterThan": 1}, "Expiration": {"Days": 1}},
            "MalformedXML",
            MALFORMED,
            id="two-without-and",
        ),
        pytest.param(
            {
                "Filter": {"And": {"ObjectSizeGreaterThan": 2, "ObjectSizeLessThan": 2}},
                "Expiration": {"Days": 1},
            },
            "InvalidRequest",
            "has to be a value greater than 'ObjectSizeGreaterThan'",
            id="sizes",
        ),
        pytest.param(
            {**ALL, "Expiration": {"Days": 0}},
            "InvalidArgument",
            "'Days' for Expiration action must be a positive integer",
            id="expiration-days",
        ),
        pytest.param(
            {**ALL, "Expiration": {"Days": 1, "ExpiredObjectDeleteMarker": True}},
            "MalformedXML",
            MALFORMED,
            id="two-expirations",
        ),
        pytest.param(
            {**ALL, "Expiration": {"Date": datetime(2030, 1, 1, 1, tzinfo=UTC)}},
            "InvalidArgument",
            "'Date' must be at midnight GMT",
            id="date",
        ),
        pytest.param(
            {**ALL, "Transitions": moved((29, "STANDARD_IA"))},
            "InvalidArgument",
            "'Days' in Transition action must be greater than or equal to 30 for storageClass "
            "'STANDARD_IA'",
            id="standard-ia",
        ),
        pytest.param(
            {**ALL, "Transitions": moved((30, "STANDARD_IA"), (59, "GLACIER"))},
            "InvalidArgument",
            "'Days' in the 'Transition' action for StorageClass 'GLACIER' for filter '(prefix=)' "
            "must be 30 days more than 'filter '(prefix=)'' in the 'Transition' action for "
            "StorageClass 'STANDARD_IA'",
            id="30-days-between",
        ),
        pytest.param(
            {**ALL, "Transitions": moved((10, "GLACIER"), (99, "DEEP_ARCHIVE"))},
            "InvalidArgument",
            "must be 90 days more",
            id="90-days-between",
        ),
        pytest.param(
            {**ALL, "Transitions": moved((1, "GLACIER"), (2, "GLACIER"))},
            "InvalidRequest",
            "'StorageClass' must be different for 'Transition' actions in same 'Rule' with filter "
            "'(prefix=)'",
            id="class-twice",
        ),
        pytest.param(
            {**ALL, "Transitions": moved((30, "GLACIER")), "Expiration": {"Days": 30}},
            "InvalidArgument",
            "'Days' in the Expiration action for filter '(prefix=)' must be greater than 'Days' in "
            "the Transition action",
            id="expiration-first",
        ),
        pytest.param(
            {
                **ALL,
                "Transitions": moved((30, "GLACIER")),
                "Expiration": {"Date": datetime(2030, 1, 1, tzinfo=UTC)},
            },
            "InvalidRequest",
            "Found mixed 'Date' and 'Days'",
            id="days-and-date",
        ),
        pytest.param(
            {**ALL, "Transitions": [{"StorageClass": "GLACIER"}]},
            "MalformedXML",
            MALFORMED,
            id="no-days",
        ),
        pytest.param(
            {**ALL, "NoncurrentVersionExpiration": {"NoncurrentDays": 0}},
            "InvalidArgument",
            "'NoncurrentDays' for NoncurrentVersionExpiration action must be a positive integer",
            id="noncurrent-days",
        ),
        pytest.param(
            {
                **ALL,
                "NoncurrentVersionTransitions": [{"NoncurrentDays": 9, "StorageClass": "GLACIER"}],
                "NoncurrentVersionExpiration": {"NoncurrentDays": 9},
            },
            "InvalidArgument",
            "must be greater than 'NoncurrentDays'",
            id="noncurrent-expiration-first",
        ),
        pytest.param(
            {
                "Filter": {"Tag": {"Key": "a", "Value": "b"}},
                "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
            },
            "InvalidRequest",
            "AbortIncompleteMultipartUpload cannot be specified with Tags.",
            id="abort-by-tag",
        ),
        pytest.param(
            {**ALL, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 0}},
            "InvalidArgument",
            "must be a positive integer",
            id="abort-days",
        ),
        pytest.param(
            {**ALL, "Status": "enabled", "Expiration": {"Days": 1}},
            "MalformedXML",
            MALFORMED,
            id="status",
        ),
        pytest.param(
            {**ALL, "ID": "x" * 256, "Expiration": {"Days": 1}},
            "InvalidArgument",
            "ID length should not exceed allowed limit of 255",
            id="id",
        ),
    ],
)
def test_impossible_rules_are_refused(
    s3: Any, bucket: str, refusal: Refusal, rule: Params, code: str, words: str
) -> None:
    refused = refusal(lambda: put(s3, bucket, rule))

    assert (refused.code, words in refused.message) == (code, True)


def test_rules_are_told_apart(s3: Any, bucket: str, refusal: Refusal) -> None:
    one = {"ID": "one", "Expiration": {"Days": 1}}
    old = {**one, "ID": "old", "Prefix": "a/"}

    twice = refusal(lambda: put(s3, bucket, {**one, **ALL}, {**one, **ALL}))
    both = refusal(lambda: put(s3, bucket, {**one, **ALL}, old))
    none = refusal(lambda: put(s3, bucket))

    assert twice.message == "Rule ID must be unique. Found same ID for more than one rule"
    assert both.message.startswith("Base level prefix cannot be used in Lifecycle V2")
    assert none.code == "MalformedXML"
