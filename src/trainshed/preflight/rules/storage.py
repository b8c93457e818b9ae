"""Whether the buckets, the file system and the key that the cluster names can be used."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.aws import AwsRefusal, accepting
from trainshed.checks.file_system import new_file_system
from trainshed.documents.problems import Path
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import FsxPlan, StorageKind
from trainshed.preflight.subject import Subject, accounts

# FSx API reference, "FileSystem": the second is under a change that its owner asked for.
_MOUNTABLE = ("AVAILABLE", "UPDATING")
# KMS developer guide, "Key states of AWS KMS keys": keys of both encrypt.
_KEY_STATES = ("Enabled", "Updating")
_HEAD = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html"


def buckets(subject: Subject) -> dict[str, Path]:
    """Return the buckets that the cluster file names, each with the first field that does."""
    named: dict[str, Path] = {}
    own, lustre = subject.plan.bucket, new_file_system(subject.plan)
    if own and own.existing:
        named[own.existing] = ("storage", "bucket", "existing")
    if lustre and lustre.s3:
        named.setdefault(lustre.s3.bucket, ("storage", "lustre", "s3", "bucket"))
    for index, grant in enumerate(subject.plan.job_access.buckets):
        named.setdefault(grant.bucket, ("job", "buckets", index, "bucket"))
    # One that comes with the cluster may not be there yet.
    return {
        name: path for name, path in named.items() if not (own and own.new and own.is_called(name))
    }


def _regions(subject: Subject) -> dict[str, str | None]:
    """Return the region of each bucket, or None for one that is not there."""
    named = buckets(subject)
    for bucket in named:
        subject.aws.start("s3", "head_bucket", Bucket=bucket)
    return {bucket: _region_of(subject, bucket) for bucket in named}


def _region_of(subject: Subject, bucket: str) -> str | None:
    """Return the region of a bucket, or None when there is none of the name."""
    with accepting("404", "NoSuchBucket"):
        answer = subject.aws.call("s3", "head_bucket", Bucket=bucket)
        region: str = answer["BucketRegion"]
        return region
    return None


@rule(
    "TS-ACC-060",
    over=accounts,
    title="A bucket does not exist",
    when="job.buckets, storage.bucket.existing or storage.lustre.s3 names buckets",
    why="""
A file system that is linked to a bucket which does not exist fails after minutes, and its
deployment is rolled back. A job fails when it first reads or writes.
""",
    actions=("s3:ListBucket",),
    sources=(_HEAD,),
    severity=Severity.ERROR,
)
def bucket_is_there(subject: Subject) -> Iterator[Violation]:
    """HeadBucket finds it."""
    for bucket, region in _regions(subject).items():
        if region is None:
            yield Violation(
                path=buckets(subject)[bucket],
                message=f"there is no bucket {bucket}",
                remedy=f"create it: aws s3 mb s3://{bucket} --region {subject.plan.region}",
            )


@rule(
    "TS-ACC-061",
    over=accounts,
    title="A bucket is in another region",
    when="job.buckets, storage.bucket.existing or storage.lustre.s3 names buckets",
    why="""
FSx imports and exports automatically only within a region. Traffic of jobs to another region is
slower, and each byte is paid for; a gateway endpoint does not carry it.
""",
    actions=("s3:ListBucket",),
    sources=(
        _HEAD,
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
    ),
    severity=Severity.WARNING,
)
def bucket_is_in_region(subject: Subject) -> Iterator[Violation]:
    """HeadBucket says the region."""
    for bucket, region in _regions(subject).items():
        if region and region != subject.plan.region:
            yield Violation(
                path=buckets(subject)[bucket],
                message=f"{bucket} is in {region}, and the cluster is in {subject.plan.region}",
                remedy=f"copy the data to a bucket in {subject.plan.region}",
            )


@rule(
    "TS-ACC-062",
    over=accounts,
    title="The existing file system cannot be mounted by the nodes",
    when="storage.lustre.existing or storage.openzfs.existing names a file system",
    why="""
Nodes mount it at boot; one that is of another VPC or not available is not mounted, and the node
takes no job.
""",
    actions=("fsx:DescribeFileSystems",),
    sources=("https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html",),
    severity=Severity.ERROR,
)
def file_system_is_usable(subject: Subject) -> Iterator[Violation]:
    """It is there, of its type, available, and in the VPC of the nodes."""
    for kind, named in _existing(subject):
        path = ("storage", kind, "existing")
        found = fsx_file_system(subject, named)
        if found is None:
            yield Violation(
                path=path,
                message=f"there is no file system {named} in {subject.plan.region}",
                remedy="name one that aws fsx describe-file-systems lists",
            )
        else:
            yield from _unusable(subject, path, found, kind.upper())


def _unusable(
    subject: Subject, path: Path, found: Mapping[str, Any], file_system_type: str
) -> Iterator[Violation]:
    named = found["FileSystemId"]
    if found["FileSystemType"] != file_system_type:
        yield Violation(
            path=path,
            message=f"{named} is of type {found['FileSystemType']}, not {file_system_type}",
            remedy="name it in the field of its type, or name another",
        )
    if found["Lifecycle"] not in _MOUNTABLE:
        yield Violation(
            path=path,
            message=f"{named} is {found['Lifecycle']}",
            remedy="wait until it is AVAILABLE, or name another",
        )
    vpc = subject.plan.network.vpc_id
    if vpc and found["VpcId"] != vpc:
        yield Violation(
            path=path,
            message=f"{named} is in {found['VpcId']}, and the nodes are in {vpc}",
            remedy="name a file system of that VPC",
        )


@rule(
    "TS-ACC-063",
    over=accounts,
    title="The existing file system is in another zone",
    when="storage.lustre.existing or storage.openzfs.existing names a file system",
    why="""
Nodes mount it, and what they read and write goes from zone to zone: that is slower, and paid for.
""",
    actions=("fsx:DescribeFileSystems", "ec2:DescribeSubnets"),
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html",),
    severity=Severity.WARNING,
)
def file_system_is_near(subject: Subject) -> Iterator[Violation]:
    """Its subnet is in the zone of the nodes."""
    zone = subject.plan.zone
    for kind, named in _existing(subject):
        found = fsx_file_system(subject, named)
        if found is None:
            continue
        [subnet] = subject.aws.call("ec2", "describe_subnets", SubnetIds=found["SubnetIds"][:1])[
            "Subnets"
        ]
        has = subnet["AvailabilityZoneId" if zone.is_id else "AvailabilityZone"]
        if has != zone.name:
            yield Violation(
                path=("storage", kind, "existing"),
                message=f"{named} is in {has}, and the nodes are in {zone.name}",
                remedy=f"set zone to {has} if it offers {subject.plan.instance.name}, or name "
                "another",
            )


def _existing(subject: Subject) -> Iterator[tuple[StorageKind, str]]:
    """Yield the file systems of FSx that the cluster names, each with the kind that it is to be."""
    for storage in subject.plan.storages:
        if isinstance(storage, FsxPlan) and storage.existing:
            yield storage.kind, storage.existing


def fsx_file_system(subject: Subject, named: str) -> dict[str, Any] | None:
    """Return a file system of FSx, or None when it is not there."""
    with accepting("FileSystemNotFound"):
        answer = subject.aws.call("fsx", "describe_file_systems", FileSystemIds=[named])
        found: dict[str, Any] = answer["FileSystems"][0]
        return found
    return None


@rule(
    "TS-ACC-070",
    over=accounts,
    title="The KMS key cannot encrypt",
    when="kms_key names a key",
    why="""
A node whose root volume cannot be encrypted ends right after its launch, with
`Client.InternalError`, and AWS Batch launches the next one.
""",
    actions=("kms:DescribeKey",),
    sources=("https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html",),
    severity=Severity.ERROR,
)
def key_is_usable(subject: Subject) -> Iterator[Violation]:
    """The key is there, symmetric and enabled."""
    arn = subject.plan.security.kms_key
    if arn is None:
        return
    try:
        key = subject.aws.call("kms", "describe_key", KeyId=arn)["KeyMetadata"]
    except AwsRefusal as error:
        if error.code != "NotFoundException":
            raise
        yield Violation(
            path=("kms_key",), message=f"there is no key {arn}", remedy="name a key that exists"
        )
        return
    if key["KeyState"] not in _KEY_STATES:
        yield Violation(
            path=("kms_key",),
            message=f"{arn} is {key['KeyState']}",
            remedy="enable it (aws kms enable-key), or cancel its deletion",
        )
    if key.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        yield Violation(
            path=("kms_key",),
            message=f"{arn} is of {key['KeySpec']}: EBS and FSx take symmetric keys only",
            remedy="name a symmetric key",
        )
