"""Objects of S3 as days pass: transitions, expirations, restores."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

BUCKET = "training"
LARGE, SMALL = b"x" * 128 * 1024, b"x"
ALL = {"Filter": {"Prefix": ""}}
IN_ORDER = [
    {"Days": 30, "StorageClass": "STANDARD_IA"},
    {"Days": 90, "StorageClass": "GLACIER"},
    {"Days": 180, "StorageClass": "DEEP_ARCHIVE"},
]


@pytest.fixture
def s3(clean_aws: EmbeddedAws) -> Any:
    client = clean_aws.client("s3")
    client.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    return client


def put_rules(s3: Any, *rules: dict[str, Any], **more: Any) -> None:
    s3.put_bucket_lifecycle_configuration(
        Bucket=BUCKET,
        LifecycleConfiguration={"Rules": [{"Status": "Enabled", **rule} for rule in rules]},
        **more,
    )


def put(s3: Any, key: str, body: bytes = LARGE, **more: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key=key, Body=body, **more)


def classes(s3: Any) -> dict[str, str]:
    listed = s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {each["Key"]: each["StorageClass"] for each in listed}


def head(s3: Any, key: str) -> Any:
    return s3.head_object(Bucket=BUCKET, Key=key)


def refused(call: Any, **params: Any) -> tuple[str, int]:
    with pytest.raises(ClientError) as error:
        call(Bucket=BUCKET, **params)
    answer = error.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


def test_objects_move_on_as_they_age(clean_aws: EmbeddedAws, s3: Any) -> None:
    put_rules(s3, {"Filter": {"Prefix": "old/"}, "Transitions": IN_ORDER})
    put(s3, "old/run")
    put(s3, "new/run")
    found = []

    for days in (30, 1, 60, 90):
        clean_aws.let_pass(days=days)
        found.append(classes(s3)["old/run"])

    assert found == ["STANDARD", "STANDARD_IA", "GLACIER", "DEEP_ARCHIVE"]
    assert classes(s3)["new/run"] == "STANDARD"
    assert head(s3, "old/run")["StorageClass"] == "DEEP_ARCHIVE"


def test_of_two_transitions_the_colder_is_done(clean_aws: EmbeddedAws, s3: Any) -> None:
    for_all = {"ID": "all", **ALL, "Transitions": IN_ORDER[:1]}
    to_archive = [{"Days": 30, "StorageClass": "DEEP_ARCHIVE"}]
    put_rules(s3, for_all, {"Filter": {"Prefix": "runs/"}, "Transitions": to_archive})
    put(s3, "runs/1")

    clean_aws.let_pass(days=31)

    assert classes(s3) == {"runs/1": "DEEP_ARCHIVE"}


def test_an_object_is_as_old_as_the_clock_says(clean_aws: EmbeddedAws, s3: Any) -> None:
    put_rules(s3, {**ALL, "Transitions": IN_ORDER})
    clean_aws.let_pass(days=100)

    put(s3, "run")
    clean_aws.let_pass(days=31)

    assert classes(s3) == {"run": "STANDARD_IA"}


@pytest.mark.parametrize(
    ("rule", "more", "moved"),
    [
        pytest.param(ALL, {}, "STANDARD", id="default"),
        pytest.param({"Filter": {"ObjectSizeGreaterThan": 0}}, {}, "GLACIER_IR", id="by-filter"),
        pytest.param(
            {**ALL, "Transitions": [{"Days": 1, "StorageClass": "GLACIER"}]},
            {"TransitionDefaultMinimumObjectSize": "varies_by_storage_class"},
            "GLACIER",
            id="archives-of-all-sizes",
        ),
        pytest.param(
            ALL,
            {"TransitionDefaultMinimumObjectSize": "varies_by_storage_class"},
            "STANDARD",
            id="others-not",
        ),
    ],
)
def test_small_objects_stay_unless_asked_for(
    clean_aws: EmbeddedAws, s3: Any, rule: dict[str, Any], more: dict[str, Any], moved: str
) -> None:
    put_rules(s3, {"Transitions": [{"Days": 1, "StorageClass": "GLACIER_IR"}], **rule}, **more)
    put(s3, "small", SMALL)

    clean_aws.let_pass(days=3)

    assert classes(s3) == {"small": moved}


def test_an_archived_object_is_read_after_a_restore(clean_aws: EmbeddedAws, s3: Any) -> None:
    put(s3, "run", StorageClass="GLACIER", Tagging="cluster=train")
    asked = {"Days": 2, "GlacierJobParameters": {"Tier": "Standard"}}

    tags = s3.get_object_tagging(Bucket=BUCKET, Key="run")["TagSet"]
    before = refused(s3.get_object, Key="run")
    s3.restore_object(Bucket=BUCKET, Key="run", RestoreRequest=asked)
    ongoing = head(s3, "run")["Restore"]
    meanwhile = refused(s3.get_object, Key="run")
    again = refused(s3.restore_object, Key="run", RestoreRequest=asked)
    clean_aws.let_pass(hours=5)
    restored = head(s3, "run")["Restore"]
    body = s3.get_object(Bucket=BUCKET, Key="run")["Body"].read()
    clean_aws.let_pass(days=4)

    assert tags == [{"Key": "cluster", "Value": "train"}]
    assert before == meanwhile == ("InvalidObjectState", 403)
    assert ongoing == 'ongoing-request="true"'
    assert again == ("RestoreAlreadyInProgress", 409)
    assert restored.startswith('ongoing-request="false", expiry-date="')
    assert restored.endswith(' 00:00:00 GMT"')
    assert body == LARGE
    assert "Restore" not in head(s3, "run")
    assert refused(s3.get_object, Key="run") == ("InvalidObjectState", 403)


def test_a_faster_tier_overtakes_and_days_count_anew(clean_aws: EmbeddedAws, s3: Any) -> None:
    put(s3, "run", StorageClass="GLACIER")

    def restore(days: int, tier: str) -> int:
        request = {"Days": days, "GlacierJobParameters": {"Tier": tier}}
        answer = s3.restore_object(Bucket=BUCKET, Key="run", RestoreRequest=request)
        return int(answer["ResponseMetadata"]["HTTPStatusCode"])

    statuses = [restore(1, "Bulk"), restore(1, "Expedited")]
    clean_aws.let_pass(hours=1)
    statuses.append(restore(30, "Standard"))
    clean_aws.let_pass(days=20)

    assert statuses == [202, 202, 200]
    s3.get_object(Bucket=BUCKET, Key="run")


def test_impossible_restores_are_refused(s3: Any) -> None:
    put(s3, "run")
    put(s3, "deep", StorageClass="DEEP_ARCHIVE")
    expedited = {"Days": 1, "GlacierJobParameters": {"Tier": "Expedited"}}

    codes = [
        refused(s3.restore_object, Key="run", RestoreRequest={"Days": 1}),
        refused(s3.restore_object, Key="deep", RestoreRequest=expedited),
        refused(s3.restore_object, Key="deep", RestoreRequest={"Days": 0}),
        refused(s3.restore_object, Key="deep", RestoreRequest={}),
        refused(s3.restore_object, Key="none", RestoreRequest={"Days": 1}),
    ]

    assert codes == [
        ("InvalidObjectState", 403),
        ("InvalidArgument", 400),
        ("InvalidArgument", 400),
        ("MalformedXML", 400),
        ("NoSuchKey", 404),
    ]


def test_objects_expire_by_tag_and_date(clean_aws: EmbeddedAws, s3: Any) -> None:
    tomorrow = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    tomorrow += timedelta(days=1)
    put_rules(
        s3,
        {"Filter": {"Tag": {"Key": "keep", "Value": "no"}}, "Expiration": {"Days": 7}},
        {"Filter": {"Prefix": "dated/"}, "Expiration": {"Date": tomorrow}},
        {**ALL, "Expiration": {"Days": 1}, "Status": "Disabled"},
    )
    put(s3, "tagged", SMALL, Tagging="keep=no")
    put(s3, "kept", SMALL, Tagging="keep=yes")
    put(s3, "dated/run", SMALL)

    clean_aws.let_pass(days=1)
    after_one = set(classes(s3))
    clean_aws.let_pass(days=7)

    assert after_one == {"tagged", "kept"}
    assert set(classes(s3)) == {"kept"}


def test_versions_expire_one_after_the_other(clean_aws: EmbeddedAws, s3: Any) -> None:
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    put_rules(
        s3,
        {
            **ALL,
            "Expiration": {"Days": 10},
            "NoncurrentVersionTransitions": [{"NoncurrentDays": 5, "StorageClass": "GLACIER"}],
            "NoncurrentVersionExpiration": {"NoncurrentDays": 20},
        },
    )
    put(s3, "run")

    def state() -> tuple[list[str], int]:
        listed = s3.list_object_versions(Bucket=BUCKET)
        versions = [each["StorageClass"] for each in listed.get("Versions", [])]
        return versions, len(listed.get("DeleteMarkers", []))

    states = []
    for days in (9, 2, 6, 16):
        clean_aws.let_pass(days=days)
        states.append(state())

    assert states == [
        (["STANDARD"], 0),
        (["STANDARD"], 1),
        (["GLACIER"], 1),
        ([], 0),
    ]


def test_days_that_pass_at_once_pass_one_by_one(clean_aws: EmbeddedAws, s3: Any) -> None:
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    noncurrent = {"NoncurrentVersionExpiration": {"NoncurrentDays": 20}}
    put_rules(s3, {**ALL, "Expiration": {"Days": 10}, **noncurrent})
    put(s3, "run", SMALL)

    clean_aws.let_pass(days=33)

    assert {"Versions", "DeleteMarkers"}.isdisjoint(s3.list_object_versions(Bucket=BUCKET))


def test_newer_versions_are_kept(clean_aws: EmbeddedAws, s3: Any) -> None:
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    kept = {"NoncurrentDays": 1, "NewerNoncurrentVersions": 2}
    put_rules(s3, {**ALL, "NoncurrentVersionExpiration": kept})
    for body in (b"1", b"2", b"3", b"4", b"5"):
        put(s3, "latest", body)

    clean_aws.let_pass(days=3)

    found = s3.list_object_versions(Bucket=BUCKET)["Versions"]
    bodies = [
        s3.get_object(Bucket=BUCKET, Key="latest", VersionId=each["VersionId"])["Body"].read()
        for each in found
    ]
    assert sorted(bodies) == [b"3", b"4", b"5"]


def test_a_marker_alone_goes(clean_aws: EmbeddedAws, s3: Any) -> None:
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    put_rules(
        s3,
        {**ALL, "ID": "markers", "Expiration": {"ExpiredObjectDeleteMarker": True}},
        {
            "Filter": {"Prefix": "run"},
            "ID": "versions",
            "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
        },
    )
    for key in ("run", "kept"):
        put(s3, key, SMALL)
        s3.delete_object(Bucket=BUCKET, Key=key)

    clean_aws.let_pass(days=3)

    listed = s3.list_object_versions(Bucket=BUCKET)
    assert [each["Key"] for each in listed["Versions"]] == ["kept"]
    assert [each["Key"] for each in listed["DeleteMarkers"]] == ["kept"]


def test_unfinished_uploads_are_aborted(clean_aws: EmbeddedAws, s3: Any) -> None:
    put_rules(
        s3,
        {"Filter": {"Prefix": "a"}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
    )
    for key in ("a", "b"):
        s3.create_multipart_upload(Bucket=BUCKET, Key=key)

    clean_aws.let_pass(days=7)
    after_seven = s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
    clean_aws.let_pass(days=1)
    after_eight = s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]

    assert {each["Key"] for each in after_seven} == {"a", "b"}
    assert {each["Key"] for each in after_eight} == {"b"}
