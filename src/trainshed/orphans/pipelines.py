"""What a deleted AMI pipeline keeps: the bucket with the reports of its builds, and its key.

Neither has a tag of trainshed: they are found by the name that CloudFormation gives the bucket, and
by the key's description.
"""

import re
from collections.abc import Iterator

from trainshed.account.billed import bucket_billed, key_billed
from trainshed.aws import AwsRefusal, accepting
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion

# CloudFormation names a bucket STACK-LOGICALID-RANDOM, in lower case; logical ids begin with
# construct ids (`BuildRecords` of `AmiPipeline`).
_REPORTS = re.compile(r"(?P<stack>[a-z0-9-]+)-pipelinerecordsreports[0-9a-z]*-[0-9a-z]+")
# As `BuildRecords` describes it.
_DESCRIPTION = "Logs, reports and messages of AMI builds"


def _reports(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("s3", "list_buckets", "Buckets"):
        name = each["Name"]
        # Gone meanwhile; HeadBucket has no body, so its error has the status only.
        with accepting("NoSuchBucket", "404"):
            if (found := _REPORTS.fullmatch(name)) and _is_here(place, name):
                yield Candidate(
                    billed=bucket_billed(place.region, name, each.get("CreationDate")),
                    why=f"reports of AMI builds of the stack {found['stack']}; empty it first, of "
                    "earlier versions too",
                    kept=True,
                )


def _is_here(place: SearchedRegion, bucket: str) -> bool:
    """Return whether a bucket is in the region: S3 lists those of all."""
    answer = place.region.call("s3", "head_bucket", Bucket=bucket)
    return bool(answer["BucketRegion"] == place.region.name)


def _keys(place: SearchedRegion) -> Iterator[Candidate]:
    """Yield keys of pipelines; the policy of a key may refuse, then the others are looked at first.

    Those that wait for their deletion cost nothing.
    """
    refused: AwsRefusal | None = None
    for each in place.region.pages("kms", "list_keys", "Keys"):
        try:
            key = place.region.call("kms", "describe_key", KeyId=each["KeyId"])["KeyMetadata"]
        except AwsRefusal as error:
            refused = refused or error
            continue
        if key.get("Description") == _DESCRIPTION and key["KeyState"] != "PendingDeletion":
            yield Candidate(
                billed=key_billed(key["KeyId"], key.get("CreationDate")),
                why="it encrypts the reports of AMI builds",
                kept=True,
            )
    if refused:
        raise refused


PIPELINE_LOOKS = (
    OrphanSearch(
        at="reports of AMI pipelines",
        actions=("s3:ListAllMyBuckets", "s3:ListBucket"),
        find=_reports,
    ),
    OrphanSearch(
        at="keys of AMI pipelines", actions=("kms:DescribeKey", "kms:ListKeys"), find=_keys
    ),
)
