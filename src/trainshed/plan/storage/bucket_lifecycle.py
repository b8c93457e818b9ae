"""The lifecycle rules of a bucket: what S3 takes, and what jobs could no longer read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trainshed.catalogue.s3 import DEEP_ARCHIVE, GLACIER, GLACIER_IR, STANDARD_IA, StorageClass
from trainshed.plan.notes import Notes
from trainshed.spec import BucketLifecycle

_CLASSES: Mapping[str, StorageClass] = {
    "infrequent_access_days": STANDARD_IA,
    "glacier_instant_retrieval_days": GLACIER_IR,
    "glacier_days": GLACIER,
    "deep_archive_days": DEEP_ARCHIVE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A step of a lifecycle rule, by which objects come into a storage class.

    Attributes:
        field: of the rule.
        to: the class.
        days: since the objects were written.
    """

    field: str
    to: StorageClass
    days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixReader:
    """What reads the objects under a prefix without restoring them.

    Attributes:
        prefix: the prefix; empty for all.
        words: what reads them, as in `storage.bucket.mount shows`.
    """

    prefix: str
    words: str


def moves_of(rule: BucketLifecycle) -> tuple[Move, ...]:
    """Return the steps of a rule, from the warmest class to the coldest."""
    return tuple(
        Move(field=field, to=to, days=days)
        for field, to in _CLASSES.items()
        if (days := getattr(rule, field)) is not None
    )


def objects_of(rule: BucketLifecycle) -> str:
    """Name the objects of a rule in a sentence."""
    return f"objects under {rule.prefix}" if rule.prefix else "all objects"


def rule_in_words(rule: BucketLifecycle) -> str:
    """Say what a rule does."""
    steps = [f"to {each.to.title} after {each.days} days" for each in moves_of(rule)]
    if rule.expire_days:
        steps.append(f"deleted after {rule.expire_days} days")
    return f"{objects_of(rule)} {', '.join(steps)}"


def check_lifecycle(
    notes: Notes, rules: Sequence[BucketLifecycle], readers: Sequence[PrefixReader]
) -> None:
    """Refuse what S3 refuses, and archives of what is read."""
    known: dict[str, int] = {}
    for index, rule in enumerate(rules):
        path = ("storage", "bucket", "lifecycle", index)
        first = known.setdefault(rule.prefix, index)
        if first != index:
            notes.problem(
                (*path, "prefix"),
                f"{objects_of(rule)} have a rule already, lifecycle.{first}; put both into one",
            )
        for field, message in (*_order(rule), *archived(rule, readers)):
            notes.problem((*path, field), message)


def _order(rule: BucketLifecycle) -> Iterator[tuple[str, str]]:
    """Find steps that come too early after another one.

    S3 user guide, "Constraints and considerations for transitions": only to colder classes, and in
    one rule not before the least time of the warmer one is over. A step after the coldest one is
    the deletion.
    """
    moves = moves_of(rule)
    for warm, cold in pairwise(moves):
        least = warm.days + warm.to.days
        if cold.days < least:
            yield (
                cold.field,
                f"{cold.days} is too early: objects stay in {warm.to.title} for at least "
                f"{warm.to.days} days, from day {warm.days} ({warm.field}) on; give {least} or "
                f"more, or leave {warm.field} out",
            )
    if rule.expire_days and moves and rule.expire_days <= moves[-1].days:
        last = moves[-1]
        yield (
            "expire_days",
            f"{rule.expire_days} is not after the {last.days} days of {last.field}: what is "
            "deleted moves nowhere; give more, or leave one of them out",
        )


def archived(rule: BucketLifecycle, readers: Sequence[PrefixReader]) -> Iterator[tuple[str, str]]:
    """Find archives of what is read: S3 answers InvalidObjectState, which is an I/O error."""
    archive = next((each for each in moves_of(rule) if each.to.archive), None)
    reader = next((each for each in readers if overlap(rule.prefix, each.prefix)), None)
    if archive and reader:
        yield (
            archive.field,
            f"{objects_of(rule)} go to {archive.to.title} after {archive.days} days, and "
            f"{reader.words}: what is archived cannot be read until it is restored, so jobs "
            "get I/O errors; take glacier_instant_retrieval_days, which can be read at once, or "
            "another prefix",
        )


def overlap(one: str, other: str) -> bool:
    """Return whether some object may be under both prefixes."""
    return one.startswith(other) or other.startswith(one)
