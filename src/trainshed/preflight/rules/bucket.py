"""Whether the cluster's own S3 bucket can be made, and the one that it names be read."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.account.deployed_stacks import find_stack
from trainshed.aws import accepting
from trainshed.catalogue.s3 import DEEP_ARCHIVE, GLACIER
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.plan.storage.bucket_lifecycle import overlap
from trainshed.preflight.subject import Subject, accounts

_PATH = ("storage", "bucket")
_ARCHIVES = {each.name: each.title for each in (GLACIER, DEEP_ARCHIVE)}


@rule(
    "TS-ACC-066",
    over=accounts,
    title="The cluster's bucket is there already",
    when="storage.bucket is a new one",
    why="""
A bucket is kept when its stack is deleted. S3 makes no second one of its name, so that the
deployment fails, and is rolled back; what is in the bucket stays as it is.
""",
    actions=("s3:ListBucket", "cloudformation:DescribeStacks"),
    sources=("https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html",),
    severity=Severity.ERROR,
)
def bucket_can_be_made(subject: Subject) -> Iterator[Violation]:
    """No bucket has its name, unless its own stack made it."""
    bucket = subject.plan.bucket
    if bucket is None or bucket.new is None:
        return
    stack = find_stack(subject.aws, bucket.stack_name)
    if stack and stack.ids(bucket.resource_type):
        return
    account = subject.aws.call("sts", "get_caller_identity")["Account"]
    name = bucket.bucket_name(account, subject.plan.region)
    with accepting("404", "NoSuchBucket"):
        subject.aws.call("s3", "head_bucket", Bucket=name)
        yield Violation(
            path=_PATH,
            message=f"{name} is there already, and {bucket.stack_name} did not make it",
            remedy=f"use it with existing: {name}, or give storage.bucket another name",
        )


@rule(
    "TS-ACC-067",
    over=accounts,
    title="A bucket archives objects that the cluster reads",
    when="storage.bucket mounts an existing bucket, or storage.lustre.s3 names one",
    why="""
What a lifecycle rule of the bucket moved to Glacier or Glacier Deep Archive cannot be read until it
is restored: a job, a mount of the bucket or Lustre gets an I/O error, months after the rule was
made.
""",
    actions=("s3:GetLifecycleConfiguration",),
    sources=(
        "https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html",
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/restoring-objects.html",
    ),
    severity=Severity.WARNING,
)
def nothing_that_is_read_is_archived(subject: Subject) -> Iterator[Violation]:
    """No rule of a bucket that is mounted or loaded moves what is read to an archive."""
    for name, prefix, path in read_buckets(subject.plan):
        for each in _rules(subject, name):
            archive = next(
                (
                    _ARCHIVES[step["StorageClass"]]
                    for step in each.get("Transitions", ())
                    if step["StorageClass"] in _ARCHIVES
                ),
                None,
            )
            archived = _prefix(each)
            if each["Status"] == "Enabled" and archive and overlap(archived, prefix):
                what = f"objects under {archived}" if archived else "objects"
                yield Violation(
                    path=path,
                    message=f"a lifecycle rule of {name} moves {what} to {archive}, where they "
                    "cannot be read",
                    remedy="change the rule to GLACIER_IR, or mount another prefix",
                )
                break


def read_buckets(plan: ClusterPlan) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each existing bucket that is mounted or loaded: its name, the prefix, the field."""
    bucket, lustre = plan.bucket, plan.lustre
    if bucket and bucket.existing and bucket.mount:
        yield bucket.existing, bucket.mount_prefix, (*_PATH, "existing")
    if lustre and lustre.new and (link := lustre.new.s3):
        yield link.bucket, link.prefix, ("storage", "lustre", "s3")


def _rules(subject: Subject, bucket: str) -> list[Mapping[str, Any]]:
    with accepting("404", "NoSuchBucket", "NoSuchLifecycleConfiguration"):
        answer = subject.aws.call("s3", "get_bucket_lifecycle_configuration", Bucket=bucket)
        found: list[Mapping[str, Any]] = answer["Rules"]
        return found
    return []


def _prefix(rule: Mapping[str, Any]) -> str:
    """Return the prefix of a lifecycle rule, which may stand in three places."""
    found = rule.get("Filter", {})
    prefix: str = (
        found.get("Prefix") or found.get("And", {}).get("Prefix") or rule.get("Prefix", "")
    )
    return prefix
