"""Lifecycle configurations of buckets, in place of moto's, which leave most members out.

S3 API reference: a configuration replaces the former one; rules without an ID get one. LocalStack's
tests, recorded against S3: rules come back as they were put, and the answers say what is done with
small objects.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from moto.core.responses import ActionResult
from moto.s3.exceptions import MalformedXML, NoSuchLifecycleConfiguration, S3ClientError
from moto.s3.models import FakeBucket
from moto.s3.responses import S3Response

from embedded_aws.actions import correction
from embedded_aws.clock import now
from embedded_aws.s3.lifecycle_checks import check_rules
from embedded_aws.s3.lifecycle_filters import Rule
from embedded_aws.s3.requests import parameters

_SIZE_HEADER = "x-amz-transition-default-minimum-object-size"
ALL_OVER_128K, VARIES = "all_storage_classes_128K", "varies_by_storage_class"
_MEMBER = "embedded_aws_lifecycle"
_Put = Callable[[Any, Any, str, dict[str, Any]], Any]


@dataclass(slots=True, kw_only=True)
class Configuration:
    """The lifecycle configuration of a bucket.

    Attributes:
        rules: as they were put, each with its ID.
        small_objects: which transitions leave objects under 128 KiB where they are.
        ran_until: the time until which the rules were followed.
    """

    rules: tuple[Rule, ...]
    small_objects: str
    ran_until: datetime


def configuration_of(bucket: FakeBucket) -> Configuration | None:
    """Return the lifecycle configuration of moto's bucket, if it has one."""
    return vars(bucket).get(_MEMBER)


@correction
def keep_configurations() -> None:
    """Have buckets keep whole configurations."""
    # mypy refuses replacing methods; moto offers no other way.
    S3Response._bucket_response_put = _putting(S3Response._bucket_response_put)  # type: ignore[method-assign,assignment]
    S3Response.get_bucket_lifecycle = _get  # type: ignore[method-assign,assignment]
    FakeBucket.delete_lifecycle = _delete  # type: ignore[method-assign,assignment]


def _putting(put: _Put) -> _Put:
    def answer(response: Any, request: Any, bucket_name: str, query: dict[str, Any]) -> Any:
        if "lifecycle" not in query:
            return put(response, request, bucket_name, query)
        response._set_action("BUCKET", "PUT", query)
        response._authenticate_and_authorize_s3_action(bucket_name=bucket_name)
        bucket = response.backend.get_bucket(bucket_name)
        small = request.headers.get(_SIZE_HEADER, ALL_OVER_128K)
        if small not in (ALL_OVER_128K, VARIES):
            raise S3ClientError(
                "InvalidRequest", f"Invalid TransitionDefaultMinimumObjectSize found: {small}"
            )
        given = parameters(response, "PutBucketLifecycleConfiguration", Bucket=bucket_name)
        if "LifecycleConfiguration" not in given:
            raise MalformedXML
        rules = given["LifecycleConfiguration"].get("Rules", [])
        if any("Status" not in rule for rule in rules):
            raise MalformedXML
        check_rules(rules)
        vars(bucket)[_MEMBER] = Configuration(
            rules=tuple({**rule, "ID": rule.get("ID") or _new_id()} for rule in rules),
            small_objects=small,
            ran_until=now(),
        )
        return 200, {_SIZE_HEADER: small}, ""

    return answer


def _new_id() -> str:
    return base64.b64encode(str(uuid4()).encode()).decode()


def _get(response: Any) -> Any:
    response.data["Action"] = "GetBucketLifecycleConfiguration"
    found = configuration_of(response.backend.get_bucket(response.bucket_name))
    if found is None:
        raise NoSuchLifecycleConfiguration(bucket_name=response.bucket_name)
    answer = {"Rules": found.rules, "TransitionDefaultMinimumObjectSize": found.small_objects}
    return response.serialized(ActionResult(answer))


def _delete(bucket: FakeBucket) -> None:
    vars(bucket).pop(_MEMBER, None)
