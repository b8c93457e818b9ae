"""What a deleted AMI pipeline keeps beside its key: the bucket with the reports of its builds.

It has no tag of trainshed: it is found by the name that CloudFormation gives it.
"""

import re
from collections.abc import Iterator

from trainshed.account.billed import bucket_billed
from trainshed.aws import accepting
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion

# CloudFormation names a bucket STACK-LOGICALID-RANDOM, in lower case; logical ids begin with
# construct ids (`BuildRecords` of `AmiPipeline`).
_REPORTS = re.compile(r"(?P<stack>[a-z0-9-]+)-pipelinerecordsreports[0-9a-z]*-[0-9a-z]+")


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


PIPELINE_LOOKS = (
    OrphanSearch(
        at="reports of AMI pipelines",
        types=("AWS::S3::Bucket",),
        actions=("s3:ListAllMyBuckets", "s3:ListBucket"),
        find=_reports,
    ),
)
