"""Keys of KMS that deleted control planes and AMI pipelines keep.

Those of control planes have a tag of trainshed; those of pipelines are found by their description.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainshed.account.billed import Billed, key_billed
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import AwsRefusal, Region
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion

KEY_ACTIONS = ("kms:DescribeKey", "kms:ListKeys", "kms:ListResourceTags")
# As `BuildRecords` describes it.
_OF_PIPELINE = "Logs, reports and messages of AMI builds"


@dataclass(frozen=True, slots=True, kw_only=True)
class OurKey:
    """A key that is not deleted.

    Attributes:
        billed: the key.
        eks_cluster: whose secrets it encrypts; None for one of an AMI pipeline.
    """

    billed: Billed
    eks_cluster: str | None


def our_keys(region: Region) -> tuple[list[OurKey], AwsRefusal | None]:
    """Return our keys, and why a key could not be looked at.

    The policy of a key may refuse what IAM allows: that hides no other key.
    """
    found, refused = list[OurKey](), None
    for each in region.pages("kms", "list_keys", "Keys"):
        try:
            found += _if_ours(region, each["KeyId"])
        except AwsRefusal as error:
            refused = refused or error
    return found, refused


def _if_ours(region: Region, key_id: str) -> Iterator[OurKey]:
    key: dict[str, Any] = region.call("kms", "describe_key", KeyId=key_id)["KeyMetadata"]
    # Those that wait for their deletion cost nothing.
    if key["KeyState"] == "PendingDeletion":
        return
    billed = key_billed(key_id, key.get("CreationDate"))
    if key.get("Description") == _OF_PIPELINE:
        yield OurKey(billed=billed, eks_cluster=None)
        return
    answer = region.call("kms", "list_resource_tags", KeyId=key_id)
    tags = {tag["TagKey"]: tag["TagValue"] for tag in answer["Tags"]}
    if CLUSTER_TAG in tags:
        yield OurKey(billed=billed, eks_cluster=tags[CLUSTER_TAG])


def _keys(place: SearchedRegion) -> Iterator[Candidate]:
    keys, refused = our_keys(place.region)
    for each in keys:
        what = (
            f"the secrets of the EKS cluster {each.eks_cluster} in every backup"
            if each.eks_cluster
            else "the reports of AMI builds"
        )
        yield Candidate(billed=each.billed, why=f"it encrypts {what}", kept=True)
    if refused:
        raise refused


KEY_LOOKS = (
    OrphanSearch(at="KMS keys", types=("AWS::KMS::Key",), actions=KEY_ACTIONS, find=_keys),
)
