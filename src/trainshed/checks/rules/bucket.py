"""Whether the lifecycle of a bucket does what its owner wants."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.plan.storage.bucket_lifecycle import moves_of, objects_of


@rule(
    "TS-BUC-001",
    over=clusters,
    title="Objects are deleted before the least time that their storage class is paid for",
    why="""
Standard-IA is paid for 30 days at least, Glacier Instant Retrieval and Glacier for 90, Glacier Deep
Archive for 180. Who deletes an object earlier pays for the rest of these days, and has paid for the
move.
""",
    sources=("https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html",),
    example="""
instance: {type: trn1.32xlarge}
storage: {bucket: {lifecycle: [{prefix: runs/, glacier_days: 30, expire_days: 60}]}}
""",
)
def deleted_early(plan: ClusterPlan) -> Iterator[Violation]:
    """What is deleted should have been in its last class for the least time."""
    new = plan.bucket.new if plan.bucket else None
    for index, each in enumerate(new.lifecycle if new else ()):
        moves = moves_of(each)
        if not moves or not each.expire_days:
            continue
        last = moves[-1]
        kept = each.expire_days - last.days
        if kept < last.to.days:
            yield Violation(
                path=("storage", "bucket", "lifecycle", index, "expire_days"),
                message=f"{objects_of(each)} are in {last.to.title} for {kept} days, and paid for "
                f"{last.to.days}",
                remedy=f"give {last.days + last.to.days} or more, or leave {last.field} out",
            )
