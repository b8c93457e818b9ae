"""What a bucket of one cluster archives, and another cluster of the app reads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainshed.documents.problems import Problem
from trainshed.plan.cluster import ClusterPlan
from trainshed.plan.storage.bucket import BucketPlan, readers_of
from trainshed.plan.storage.bucket_lifecycle import PrefixReader, archived


def archives_read_elsewhere(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """Find archives of what clusters read that name the bucket in another field than its `name`.

    Those that share it by `name` have one lifecycle, and were refused alone.
    """
    makers = {each.bucket.stack_name: each for each in clusters if each.bucket}
    for maker in makers.values():
        bucket = maker.bucket
        if not bucket or not bucket.new:
            continue
        readers = [
            replace(reader, words=f"{reader.words} in {other.name} ({other.where.file})")
            for other in clusters
            for reader in _readers_elsewhere(maker, bucket, other)
        ]
        for index, rule in enumerate(bucket.new.lifecycle):
            for field, message in archived(rule, readers):
                path = ("storage", "bucket", "lifecycle", index, field)
                yield Problem(where=maker.where, path=path, message=message)


def _readers_elsewhere(
    maker: ClusterPlan, bucket: BucketPlan, other: ClusterPlan
) -> Iterator[PrefixReader]:
    """Yield what of another cluster reads the bucket that a cluster makes."""

    def is_called(name: str) -> bool:
        if maker.account:
            return name == bucket.bucket_name(maker.account, maker.region)
        return bucket.is_called(name) and name.endswith(f"-{maker.region}")

    theirs = other.bucket
    return readers_of(
        is_called,
        mounted=theirs if theirs and is_called(theirs.existing or "") else None,
        lustre=other.lustre.new if other.lustre else None,
        grants=other.job_access.buckets,
    )
