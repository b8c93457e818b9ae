"""What lifecycle rules do with objects: once a day at midnight, for the days that a control passes.

S3 user guide, "Lifecycle configuration elements", "Transitioning objects", "Resolving conflicts":
an age is rounded up to the next midnight UTC; an object has one action a day; permanent deletion
precedes transition, which precedes a delete marker; of several transitions the coldest; objects
under 128 KiB stay where they are, in all classes or in all but the archives, unless the rule's
filter says sizes; in a versioned bucket an expiration makes a delete marker, and a version is
noncurrent since the next one; noncurrent versions go when as many newer ones exist as are to be
kept. Inferred: a suspended bucket is like a versioned one.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any

import moto.s3.models
from moto.s3.models import FakeBucket, FakeDeleteMarker, FakeKey, FakeMultipart, s3_backends

from embedded_aws.actions import correction
from embedded_aws.clock import now
from embedded_aws.hooks import when_time_passed
from embedded_aws.s3.lifecycle_configurations import ALL_OVER_128K, Configuration, configuration_of
from embedded_aws.s3.lifecycle_filters import Filter, Rule
from embedded_aws.s3.storage_classes import ARCHIVES, COLDER

_SMALL_BYTES = 128 * 1024


def plain_now() -> datetime:
    """Return the time as moto has it, without a zone."""
    return now().replace(tzinfo=None)


@correction
def follow_the_clock() -> None:
    """Have objects and uploads begin at the time that the control moves."""
    # mypy refuses replacing functions; moto offers no other way.
    moto.s3.models.utcnow = plain_now  # type: ignore[attr-defined]
    begin = FakeMultipart.__init__

    def remembering(upload: Any, *args: Any, **kwargs: Any) -> None:
        begin(upload, *args, **kwargs)
        upload.initiated = plain_now()

    FakeMultipart.__init__ = remembering  # type: ignore[method-assign,assignment]


@when_time_passed
def run_all() -> None:
    """Follow the rules of all buckets at the midnights that have passed."""
    for of_account in s3_backends.values():
        for backend in of_account.values():
            for bucket in list(backend.buckets.values()):
                if found := configuration_of(bucket):
                    for midnight in _midnights(found.ran_until, now()):
                        _Run(backend, bucket, found, midnight.replace(tzinfo=None)).run()
                    found.ran_until = now()


def _midnights(begin: datetime, end: datetime) -> Iterator[datetime]:
    midnight = _next_midnight(begin)
    while midnight <= end:
        yield midnight
        midnight += timedelta(days=1)


def _next_midnight(moment: datetime) -> datetime:
    day = datetime.combine(moment.date(), time(), tzinfo=moment.tzinfo)
    return moment if moment == day else day + timedelta(days=1)


class _Run:
    """One midnight in one bucket."""

    def __init__(
        self, backend: Any, bucket: FakeBucket, found: Configuration, moment: datetime
    ) -> None:
        self._backend, self._bucket = backend, bucket
        self._varies = found.small_objects != ALL_OVER_128K
        self._rules = [
            (rule, Filter.of(rule)) for rule in found.rules if rule["Status"] == "Enabled"
        ]
        self._moment = moment

    def run(self) -> None:
        """Do with all objects and uploads what is due."""
        for name, versions in list(self._bucket.keys.lists()):
            for version in list(versions[:-1]):
                self._do_noncurrent(name, version)
            self._do_current(name, versions[-1])
        for upload_id, upload in list(self._bucket.multiparts.items()):
            if any(self._aborts(rule, found, upload) for rule, found in self._rules):
                del self._bucket.multiparts[upload_id]

    def _aborts(self, rule: Rule, found: Filter, upload: Any) -> bool:
        abort = rule.get("AbortIncompleteMultipartUpload")
        return bool(
            abort
            and upload.key_name.startswith(found.prefix)
            and self._is_due(upload.initiated, abort["DaysAfterInitiation"])
        )

    def _is_due(self, since: datetime, days: int) -> bool:
        return _next_midnight(since + timedelta(days=days)) <= self._moment

    def _for(self, version: Any) -> list[tuple[Rule, Filter]]:
        """Return the rules that are about a version."""
        if isinstance(version, FakeDeleteMarker):
            match = partial(Filter.matches, name=version.name, size=0, tags={})
        else:
            tags = self._backend.tagger.get_tag_dict_for_resource(version.arn)
            match = partial(Filter.matches, name=version.name, size=version.size, tags=tags)
        return [(rule, found) for rule, found in self._rules if match(found)]

    def _do_current(self, name: str, version: Any) -> None:
        rules = self._for(version)
        expirations = [rule["Expiration"] for rule, _ in rules if "Expiration" in rule]
        if isinstance(version, FakeDeleteMarker):
            alone = len(self._bucket.keys.getlist(name)) == 1
            if alone and any(self._ends_marker(version, each) for each in expirations):
                del self._bucket.keys[name]
            return
        expired = any(self._is_at(version.last_modified, each) for each in expirations)
        versioned = self._bucket.versioning_status is not None
        if expired and not versioned:
            if not version.is_locked(governance_bypass=False):
                self._bucket.keys.pop(name)
            return
        wanted = [
            (each["StorageClass"], found)
            for rule, found in rules
            for each in rule.get("Transitions", [])
            if self._is_at(version.last_modified, each)
        ]
        if not self._transition(version, wanted) and expired:
            marker = FakeDeleteMarker(key=version)
            marker.last_modified = self._moment
            self._bucket.keys[name] = marker

    def _ends_marker(self, marker: FakeDeleteMarker, expiration: Mapping[str, Any]) -> bool:
        return bool(
            expiration.get("ExpiredObjectDeleteMarker")
            or self._is_at(marker.last_modified, expiration)
        )

    def _is_at(self, since: datetime, action: Mapping[str, Any]) -> bool:
        """Whether the time of an action on a current version has come."""
        if "Date" in action:
            return bool(action["Date"].replace(tzinfo=None) <= self._moment)
        return "Days" in action and self._is_due(since, action["Days"])

    def _do_noncurrent(self, name: str, version: Any) -> None:
        versions = self._bucket.keys.getlist(name)
        place = versions.index(version)
        since, newer = versions[place + 1].last_modified, len(versions) - place - 2
        rules = self._for(version)

        def is_due(action: Mapping[str, Any]) -> bool:
            return newer >= action.get("NewerNoncurrentVersions", 0) and self._is_due(
                since, action["NoncurrentDays"]
            )

        if any(
            is_due(rule["NoncurrentVersionExpiration"])
            for rule, _ in rules
            if "NoncurrentVersionExpiration" in rule
        ):
            if isinstance(version, FakeDeleteMarker) or not version.is_locked(
                governance_bypass=False
            ):
                self._bucket.keys.setlist(name, [it for it in versions if it is not version])
            return
        if isinstance(version, FakeKey):
            wanted = [
                (each["StorageClass"], found)
                for rule, found in rules
                for each in rule.get("NoncurrentVersionTransitions", [])
                if is_due(each)
            ]
            self._transition(version, wanted)

    def _transition(self, version: FakeKey, wanted: list[tuple[str, Filter]]) -> bool:
        """Move a version to the coldest of the classes that it may go to, if there is one."""
        possible = COLDER.get(str(version.storage_class), ())
        small = version.size < _SMALL_BYTES
        chosen = [
            storage_class
            for storage_class, found in wanted
            if storage_class in possible
            and (not small or found.has_sizes or (self._varies and storage_class in ARCHIVES))
        ]
        if chosen:
            version.set_storage_class(max(chosen, key=possible.index))
        return bool(chosen)
