"""The S3 bucket: data sets, checkpoints, and what has to be kept for long."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trainshed.nodes.variables import BUCKET
from trainshed.plan.notes import Notes, origin
from trainshed.plan.storage.bucket_lifecycle import PrefixReader, check_lifecycle, rule_in_words
from trainshed.plan.storage.model import StorageKind, StoragePlan
from trainshed.spec import BucketAccess, BucketGrant, BucketSpec, LustreSpec

# Days until S3 deletes versions that were overwritten or deleted, and parts of uploads that never
# ended: those are billed and seen by nobody.
VERSION_DAYS, UPLOAD_DAYS = 90, 7
# S3 user guide, "General purpose bucket naming rules".
_LONGEST = 63
_ACCOUNT_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlan(StoragePlan):
    """An S3 bucket, which jobs use by S3's API and nodes may mount to read.

    Attributes:
        new: settings of a new one.
        access: what jobs may do in it.
        mount_prefix: what of it is mounted; empty for all.
    """

    kind = StorageKind.BUCKET
    title = "S3 bucket"
    client = "Mountpoint for Amazon S3"
    resource_type = "AWS::S3::Bucket"
    stack_suffix = "Bucket"
    clients_group = None

    new: BucketSpec | None
    access: BucketAccess
    mount_prefix: str

    @property
    def interfaces(self) -> int:
        """None: nodes reach S3 by the gateway endpoint."""
        return 0

    @property
    def further_parameters(self) -> tuple[str, ...]:
        """What its stack publishes beside its name."""
        return ("prefix",) if self.mount_prefix else ()

    @property
    def shared_facts(self) -> dict[str, Any]:
        """What clusters that share it must agree on: it is in none of their networks."""
        own = {"network", "access"}
        return {
            name: fact
            for name, fact in super(BucketPlan, self).shared_facts.items()
            if name not in own
        }

    def bucket_name(self, account: str, region: str) -> str:
        """Return the name of the bucket.

        It follows from the cluster file, so that jobs and policies have it before the bucket is
        there, and so that S3 refuses to make an empty one beside one that was kept.
        """
        return self.existing or own_bucket_name(self.name, account, region)

    def is_called(self, bucket: str) -> bool:
        """Return whether a bucket that another field names is this one, of whatever account."""
        if self.existing:
            return bucket == self.existing
        name = (
            rf"{re.escape(_beginning(self.name))}[0-9]{{{_ACCOUNT_DIGITS}}}-[a-z]+(-[a-z]+)+-[0-9]"
        )
        return re.fullmatch(name, bucket) is not None


def own_bucket_name(name: str, account: str, region: str) -> str:
    """Return the name of the new bucket that clusters share by a name."""
    return f"{_beginning(name)}{account}-{region}"


def is_own_bucket(bucket: str, account: str, region: str) -> bool:
    """Return whether a bucket is one that clusters share by some name."""
    return bucket.startswith(_beginning("")[:-1]) and bucket.endswith(f"-{account}-{region}")


def plan_bucket(notes: Notes, asked: BucketSpec, network: str, region: str | None) -> BucketPlan:
    """Resolve `storage.bucket`."""
    name = asked.name or notes.spec.short_name
    plan = BucketPlan(
        name=name,
        stack_name=BucketPlan.stack_for(name),
        network=network,
        zone=None,
        existing=asked.existing,
        mount=asked.mount,
        new=None if asked.existing else asked,
        access=asked.access,
        mount_prefix=asked.mount_prefix,
    )
    if asked.existing:
        notes.decide("bucket", asked.existing, "as asked; its own settings stay as they are")
    else:
        _check_name(notes, name, region)
        readers = readers_of(
            plan.is_called,
            mounted=plan,
            lustre=notes.spec.storage.lustre,
            grants=notes.spec.job.buckets,
        )
        check_lifecycle(notes, asked.lifecycle, tuple(readers))
        _decide(notes, plan, asked, region)
    _check_jobs(notes, plan)
    notes.decide(
        "bucket access of jobs",
        asked.access,
        f"{origin(asked, 'access')}; by S3's API, with the name in {BUCKET}",
    )
    if asked.mount:
        what = asked.mount_prefix or "all of it"
        notes.decide("bucket mount", asked.mount, f"as asked; to read only, {what}")
    else:
        notes.decide("bucket mount", "none", "storage.bucket.mount is not given")
    return plan


def _decide(notes: Notes, plan: BucketPlan, asked: BucketSpec, region: str | None) -> None:
    """Note what the bucket is, and where each part of that comes from."""
    notes.decide(
        "bucket",
        plan.bucket_name(notes.spec.account or "ACCOUNT", region or "REGION"),
        f"new, private, through TLS only; versions are kept for {VERSION_DAYS} days",
    )
    rules = "; ".join(map(rule_in_words, asked.lifecycle))
    notes.decide("bucket lifecycle", rules or "none", origin(asked, "lifecycle"))


def _beginning(name: str) -> str:
    return f"trainshed-{name}-"


def _check_name(notes: Notes, name: str, region: str | None) -> None:
    longest = _LONGEST - len(_beginning("")) - _ACCOUNT_DIGITS - 1 - len(region or "")
    if len(name) > longest:
        notes.problem(
            "storage.bucket.name",
            f"{name!r} has {len(name)} characters: the bucket is called "
            f"{_beginning('NAME')}ACCOUNT-{region}, and S3 takes {_LONGEST} characters; give a "
            f"name of up to {longest}",
        )


def readers_of(
    is_called: Callable[[str], bool],
    *,
    mounted: BucketPlan | None,
    lustre: LustreSpec | None,
    grants: Sequence[BucketGrant],
) -> Iterator[PrefixReader]:
    """Yield what of a cluster reads the objects of a bucket and cannot restore them.

    Args:
        is_called: says whether a bucket that a field names is that one.
        mounted: the bucket that the cluster may mount, if it is that one.
        lustre: the Lustre file system that the cluster makes.
        grants: the buckets that its jobs may use.
    """
    if mounted and mounted.mount:
        yield PrefixReader(
            prefix=mounted.mount_prefix, words=f"{mounted.mount} (storage.bucket.mount) has them"
        )
    link = lustre.s3 if lustre else None
    if link and is_called(link.bucket):
        yield PrefixReader(prefix=link.prefix, words="Lustre (storage.lustre.s3) loads them")
    for index, grant in enumerate(grants):
        if is_called(grant.bucket):
            yield PrefixReader(prefix=grant.prefix, words=f"jobs (job.buckets.{index}) read them")


def _check_jobs(notes: Notes, plan: BucketPlan) -> None:
    """Refuse what jobs have by the bucket already."""
    job = notes.spec.job
    for index, grant in enumerate(job.buckets):
        # read, read-write and read-write-delete: each begins with the lesser ones.
        if plan.is_called(grant.bucket) and plan.access.startswith(grant.access):
            notes.problem(
                ("job", "buckets", index),
                f"gives nothing that storage.bucket does not give: {plan.access} in the whole "
                "bucket; leave it out",
            )
    if BUCKET in job.environment:
        notes.problem(
            ("job", "environment", BUCKET),
            "storage.bucket sets it to the name of the bucket; rename it",
        )
