"""RestoreObject: copies of archived objects that come after hours and go after days.

S3 user guide, "Understanding archive retrieval options": how long each tier takes; the longest time
is taken. "Restoring an archived object": a faster tier may be asked for meanwhile; a copy is kept
until the midnight UTC after its days, which another request counts anew. The words of refusals are
S3's, as users of its clients quote them; that of Days, inferred. Error reference: the codes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from http import HTTPStatus
from typing import Any

from moto.core.responses import ActionResult
from moto.s3.exceptions import MalformedXML, MissingKey, MissingVersion, S3ClientError
from moto.s3.models import FakeKey
from moto.s3.responses import S3Response

from embedded_aws.actions import correction
from embedded_aws.clock import now, seconds_here
from embedded_aws.s3.requests import parameters

_HOURS: Mapping[str, Mapping[str, float]] = {
    "GLACIER": {"Expedited": 5 / 60, "Standard": 5, "Bulk": 12},
    "DEEP_ARCHIVE": {"Standard": 12, "Bulk": 48},
}
_BESIDE = frozenset({"acl", "legal-hold", "tagging"})
_MEMBER = "embedded_aws_restore"
_Post = Callable[[Any, Any, bytes, str, dict[str, Any], str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """The copy of an archived object.

    Attributes:
        done_at: when it is there.
        ends_at: when it is gone.
    """

    done_at: datetime
    ends_at: datetime


@correction
def restore_by_the_clock() -> None:
    """Have copies come and go by the clock; moto's are there at once and stay."""
    S3Response._key_response_post = _posting(S3Response._key_response_post)  # type: ignore[method-assign,assignment]
    S3Response._get_key = _reading(S3Response._get_key)  # type: ignore[method-assign]
    # What moto asks of an object to say whether it is restored, and for how long.
    FakeKey._expiry = property(_expiry, lambda *_: None)  # type: ignore[assignment]
    FakeKey.status = property(_status, lambda *_: None)  # type: ignore[assignment]


def _reading(get: Callable[..., Any]) -> Callable[..., Any]:
    def answer(response: Any, validate_storage_class: bool = True) -> Any:
        # What is beside an archived object is read as that of others.
        return get(response, validate_storage_class and _BESIDE.isdisjoint(response.querystring))

    return answer


def _restore_of(key: FakeKey) -> Restore | None:
    found: Restore | None = vars(key).get(_MEMBER)
    return found if found and now() < found.ends_at else None


def _expiry(key: FakeKey) -> datetime | None:
    found = _restore_of(key)
    return found.ends_at if found else None


def _status(key: FakeKey) -> str | None:
    found = _restore_of(key)
    if found is None:
        return None
    return "IN_PROGRESS" if now() < found.done_at else "RESTORED"


def _posting(post: _Post) -> _Post:
    def answer(
        response: Any,
        request: Any,
        body: bytes,
        bucket_name: str,
        query: dict[str, Any],
        key_name: str,
    ) -> Any:
        if "restore" not in query:
            return post(response, request, body, bucket_name, query, key_name)
        response._set_action("KEY", "POST", query)
        response._authenticate_and_authorize_s3_action(bucket_name=bucket_name, key_name=key_name)
        given = parameters(response, "RestoreObject", Bucket=bucket_name, Key=key_name)
        version = query.get("versionId", [None])[0]
        key = response.backend.get_object(bucket_name, key_name, version_id=version)
        if key is None:
            raise MissingVersion if version else MissingKey(key=key_name)
        status = _restore(key, given.get("RestoreRequest", {}))
        if status != HTTPStatus.CONFLICT:
            return int(status), {}, ""
        refused = S3ClientError("RestoreAlreadyInProgress", "Object restore is already in progress")
        # Of an error that the model does not have, moto does not know the status.
        _, headers, text = response.serialized(ActionResult(refused))
        return int(status), headers, text

    return answer


def _restore(key: FakeKey, given: Mapping[str, Any]) -> HTTPStatus:
    """Begin a restore, or go on with one; return the status of the answer."""
    if "Type" in given:
        raise S3ClientError("NotImplemented", "the embedded AWS does not select from archives.")
    tiers = _HOURS.get(str(key.storage_class))
    if tiers is None:
        raise S3ClientError(
            "InvalidObjectState", "Restore is not allowed for the object's current storage class"
        )
    days = given.get("Days")
    if days is None:
        raise MalformedXML
    if days < 1:
        raise S3ClientError("InvalidArgument", "'Days' for Restore must be a positive integer")
    tier = given.get("GlacierJobParameters", {}).get("Tier") or given.get("Tier", "Standard")
    if tier not in tiers:
        raise S3ClientError(
            "InvalidArgument", "Retrieval option is not supported by this storage class"
        )
    current = _restore_of(key)
    if current and current.done_at <= now():
        _keep(key, current.done_at, now(), days)
        return HTTPStatus.OK
    done_at = now() + timedelta(seconds=seconds_here(tiers[tier] * 3600))
    if current and done_at >= current.done_at:
        return HTTPStatus.CONFLICT
    _keep(key, done_at, done_at, days)
    return HTTPStatus.ACCEPTED


def _keep(key: FakeKey, done_at: datetime, since: datetime, days: int) -> None:
    end = since + timedelta(days=days + 1)
    ends_at = datetime.combine(end.date(), time(), tzinfo=end.tzinfo)
    vars(key)[_MEMBER] = Restore(done_at=done_at, ends_at=ends_at)
