"""The S3 bucket of a cluster's own."""

from collections.abc import Iterator

from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.plan import BucketPlan
from trainshed.plan.storage.bucket_lifecycle import moves_of, rule_in_words
from trainshed.prices import S3_MOVED, S3_STORED


def data_bucket_part(bucket: BucketPlan) -> PlannedPart:
    """Return a bucket that jobs use, and nodes may mount."""
    return PlannedPart(
        kind="s3",
        facts=tuple(_facts(bucket)),
        charges=tuple(_charges(bucket)),
        resources=PartResources(stack=bucket.stack_name, types=(bucket.resource_type,)),
    )


def _facts(bucket: BucketPlan) -> Iterator[Fact]:
    if bucket.new:
        yield Fact(name="S3 bucket", value="new")
        rules = "; ".join(map(rule_in_words, bucket.new.lifecycle))
        yield Fact(name="S3 lifecycle", value=rules)
    else:
        yield Fact(name="S3 bucket", value=f"{bucket.existing}, existing")
    yield Fact(name="S3 mount", value=bucket.mount or "")
    yield Fact(name="part of S3 that is mounted", value=bucket.mount_prefix, minor=True)
    yield Fact(name="access of jobs to S3", value=bucket.access, minor=True)
    yield Fact(name="name of the S3 bucket", value=bucket.name, minor=True)


def _charges(bucket: BucketPlan) -> Iterator[Charge]:
    if bucket.new is None:
        return
    yield Charge(component="objects in S3 Standard", item=S3_STORED["STANDARD"])
    moves = [move for rule in bucket.new.lifecycle for move in moves_of(rule)]
    for to in dict.fromkeys(move.to for move in moves):
        yield Charge(component=f"objects in S3 {to.title}", item=S3_STORED[to.name])
        yield Charge(component=f"moves to S3 {to.title}", item=S3_MOVED[to.name])
