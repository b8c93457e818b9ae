"""What the containers of a job may do in AWS, and what others may read of a job."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.documents.sensitive_names import gives_wide_rights, names_a_secret
from trainshed.findings import Basis, Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.spec import BucketAccess


@rule(
    "TS-SEC-002",
    over=clusters,
    title="Jobs get an administrator's rights, or all rights in a service",
    why="""
Everything that runs in a container has the rights of the job's role: each package that a training
imports, and each model or data set that brings code. A policy for administrators hands the account
to them.
""",
    sources=("https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",),
    example="""
instance: {type: trn1.32xlarge}
job: {policies: ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]}
""",
)
def wide_policy(plan: ClusterPlan) -> Iterator[Violation]:
    """A job should have the rights that it needs."""
    for index, policy in enumerate(plan.job_access.policies):
        name = policy.rpartition("/")[2]
        of_aws = policy.split(":")[4] == "aws"
        if of_aws and gives_wide_rights(name):
            yield Violation(
                path=("job", "policies", index),
                message=f"{name} gives jobs far more than a training needs",
                remedy="give buckets in job.buckets, and for the rest a policy of your own with "
                "the actions that jobs call",
            )


@rule(
    "TS-SEC-003",
    over=clusters,
    title="Jobs may delete every object of a bucket",
    why="""
`read-write-delete` without a prefix covers the whole bucket. A wrong path in a clean-up of old
checkpoints then empties it, data sets and other people's runs with it. Versions are never deleted,
so a bucket with versioning keeps what is removed; the cluster file does not say whether it has
versioning.
""",
    sources=("https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html",),
    example="""
instance: {type: trn1.32xlarge}
job: {buckets: [{bucket: my-runs, access: read-write-delete}]}
""",
)
def whole_bucket(plan: ClusterPlan) -> Iterator[Violation]:
    """Deletion should be confined to a prefix."""
    for index, grant in enumerate(plan.job_access.buckets):
        if grant.access is BucketAccess.READ_WRITE_DELETE and not grant.prefix:
            yield Violation(
                path=("job", "buckets", index),
                message=f"jobs may delete every object of {grant.bucket}",
                remedy="give a prefix, for instance runs/, or turn on the bucket's versioning and "
                "accept this",
            )


@rule(
    "TS-SEC-004",
    over=clusters,
    title="A variable looks like a secret",
    why="""
Variables of the cluster file are in the template, in the job definition and in every
`DescribeJobs` answer in plain text, for everybody who may read one of them. AWS Batch's guide says
not to put credentials there.
""",
    basis=Basis.DOCUMENTED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data.html",),
    example="""
instance: {type: trn1.32xlarge}
job: {environment: {HF_TOKEN: hf_example}}
""",
)
def secret_variable(plan: ClusterPlan) -> Iterator[Violation]:
    """Secrets do not belong in a cluster file."""
    for name, value in plan.asked_environment.items():
        if value and names_a_secret(name):
            yield Violation(
                path=("job", "environment", name),
                message=f"{name} is a secret by its name, and its value is in plain text in the "
                "job definition",
                remedy="keep it in AWS Secrets Manager, let jobs read it by job.policies, and "
                "fetch it in the job's command",
            )
