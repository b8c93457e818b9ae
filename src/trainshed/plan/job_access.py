"""What the containers of a job may do in AWS: the buckets and policies that were asked for."""

from dataclasses import dataclass

from trainshed.plan.managed_policy import policy_problems
from trainshed.plan.notes import Notes
from trainshed.spec import BucketAccess, BucketGrant


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRights:
    """What jobs may do with the objects of a bucket under a prefix.

    Attributes:
        bucket: name of the bucket.
        prefix: empty for the whole bucket, else it ends with a slash.
        write: objects may be written, and so replaced.
        delete: objects may be deleted.
    """

    bucket: str
    prefix: str
    write: bool
    delete: bool

    def cover(self, other: "BucketRights") -> bool:
        """Whether these rights hold all of the other ones."""
        return (
            self.bucket == other.bucket
            and other.prefix.startswith(self.prefix)
            and self.write >= other.write
            and self.delete >= other.delete
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAccess:
    """What the containers of a job may do in AWS.

    Attributes:
        buckets: rights in S3.
        policies: ARNs of managed policies.
    """

    buckets: tuple[BucketRights, ...] = ()
    policies: tuple[str, ...] = ()


def plan_job_access(notes: Notes) -> JobAccess:
    """Take the buckets and policies that were asked for; refuse what adds nothing."""
    asked = notes.spec.job
    buckets = tuple(_rights(grant) for grant in asked.buckets)
    for index, rights in enumerate(buckets):
        for other, wider in enumerate(buckets):
            if other != index and wider.cover(rights) and (other < index or wider != rights):
                notes.problem(
                    ("job", "buckets", index),
                    f"gives nothing that job.buckets.{other} does not give: "
                    f"{_words(wider)} has {_words(rights)} in it; leave one of them out",
                )
                break
    for index, policy in enumerate(asked.policies):
        _check_policy(notes, index, policy)
    if buckets:
        notes.decide(
            "buckets of jobs",
            ", ".join(map(_words, buckets)),
            "as asked; nothing else in S3, and no deletion unless it is asked for",
        )
    else:
        notes.decide("buckets of jobs", "none", "job.buckets names none")
    if asked.policies:
        notes.decide("policies of jobs", ", ".join(asked.policies), "as asked")
    return JobAccess(buckets=buckets, policies=asked.policies)


def _rights(grant: BucketGrant) -> BucketRights:
    return BucketRights(
        bucket=grant.bucket,
        prefix=grant.prefix,
        write=grant.access is not BucketAccess.READ,
        delete=grant.access is BucketAccess.READ_WRITE_DELETE,
    )


def _words(rights: BucketRights) -> str:
    verbs = ["read", *(["write"] if rights.write else []), *(["delete"] if rights.delete else [])]
    return f"{'-'.join(verbs)} s3://{rights.bucket}/{rights.prefix}"


def _check_policy(notes: Notes, index: int, policy: str) -> None:
    path = ("job", "policies", index)
    if policy in notes.spec.job.policies[:index]:
        notes.problem(path, f"{policy} is there already; leave one of them out")
    for message in policy_problems(policy, notes.spec.account):
        notes.problem(path, message)
