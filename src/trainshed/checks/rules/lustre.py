"""Whether data outlives nodes and servers."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.checks.file_system import new_file_system
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import BucketPlan, ClusterPlan
from trainshed.plan.storage.bucket import VERSION_DAYS
from trainshed.spec import BucketAccess, DeploymentType

_LUSTRE = ("storage", "lustre")


@rule(
    "TS-LUS-001",
    over=clusters,
    title="Checkpoints are on servers that are not replicated",
    why="""
A scratch file system keeps each piece of data once: when one of its servers fails, what was there
is gone. AWS means it for temporary data and for processing that is over soon; it cannot be backed
up.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",),
    example="""
instance: {type: trn1.32xlarge}
storage: {lustre: {deployment: scratch-2}}
""",
)
def scratch_without_copy(plan: ClusterPlan) -> Iterator[Violation]:
    """What a training wrote should be somewhere else, too."""
    lustre = new_file_system(plan)
    if lustre and lustre.deployment is DeploymentType.SCRATCH_2 and not lustre.s3:
        yield Violation(
            path=(*_LUSTRE, "deployment"),
            message="scratch-2 loses data with a server, and no S3 bucket has a copy of what jobs "
            f"write in up to {plan.jobs.timeout_hours} hours",
            remedy="use persistent-2, link a bucket by storage.lustre.s3, or have jobs copy their "
            "checkpoints to S3",
        )


@rule(
    "TS-LUS-006",
    over=clusters,
    title="A file system that is linked to S3 has no backups",
    severity=Severity.INFO,
    why="""
FSx makes no backups of a file system with a link to S3: the bucket has the copy. New and changed
files are exported there, objects that change or disappear in the bucket do so here, and a file that
was overwritten is overwritten in the bucket, too.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html",),
    example="""
instance: {type: trn1.32xlarge}
storage: {lustre: {s3: {bucket: my-datasets}}}
""",
)
def linked_without_backups(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever links a bucket should know that it is the only copy."""
    lustre = new_file_system(plan)
    if lustre and lustre.s3:
        bucket = plan.bucket
        versioned = bucket and bucket.new and bucket.is_called(lustre.s3.bucket)
        yield Violation(
            path=(*_LUSTRE, "s3"),
            message=f"FSx makes no backups, and what is deleted in {lustre.s3.bucket} "
            "disappears here",
            remedy=f"its versions, which are kept for {VERSION_DAYS} days, have it"
            if versioned
            else "turn on versioning of the bucket",
        )


@rule(
    "TS-LUS-008",
    over=clusters,
    title="What jobs write is lost with their nodes",
    severity=Severity.INFO,
    why="""
A job that is tried again gets other nodes, with empty disks. Without shared storage, or a bucket
that it may write to, it finds no checkpoint and starts from the beginning.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",),
    example="instance: {type: trn1.32xlarge, nodes: {max: 4}}",
)
def nothing_outlives_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Checkpoints should outlive the nodes."""
    access, nodes = plan.job_access, plan.nodes.max
    granted = [grant.access for grant in access.buckets]
    if plan.bucket:
        granted.append(plan.bucket.access)
    writes = any(each is not BucketAccess.READ for each in granted)
    shared = any(not isinstance(each, BucketPlan) for each in plan.storages)
    if nodes > 1 and not shared and not writes and not access.policies:
        yield Violation(
            path=("storage",),
            message=f"{nodes} nodes have no file system, and jobs may write to no bucket: a "
            "checkpoint is lost with its node",
            remedy="give storage.lustre or storage.bucket, or a bucket with access: read-write in "
            "job.buckets",
        )
