"""What the containers of a job may do in AWS: the buckets and policies that were asked for."""

from dataclasses import dataclass

from trainshed.plan.managed_policy import policy_problems
from trainshed.plan.notes import Notes
from trainshed.spec import BucketGrant


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAccessPlan:
    """What the containers of a job may do in AWS.

    Attributes:
        buckets: S3 buckets that they may read or write.
        policies: ARNs of managed policies.
    """

    buckets: tuple[BucketGrant, ...]
    policies: tuple[str, ...]


def plan_job_access(notes: Notes) -> JobAccessPlan:
    """Take the buckets and policies that were asked for; refuse what adds nothing."""
    asked = notes.spec.job
    for index, grant in enumerate(asked.buckets):
        for other, wider in enumerate(asked.buckets):
            if other != index and _covers(wider, grant) and (other < index or wider != grant):
                notes.problem(
                    ("job", "buckets", index),
                    f"gives nothing that job.buckets.{other} does not give: "
                    f"{_words(wider)} has {_words(grant)} in it; leave one of them out",
                )
                break
    for index, policy in enumerate(asked.policies):
        _check_policy(notes, index, policy)
    if asked.buckets:
        notes.decide(
            "buckets of jobs",
            ", ".join(map(_words, asked.buckets)),
            "as asked; nothing else in S3"
            + (" but storage.bucket" if notes.spec.storage.bucket else "")
            + ", and no deletion unless it is asked for",
        )
    else:
        notes.decide("buckets of jobs", "none", "job.buckets names none")
    if asked.policies:
        notes.decide("policies of jobs", ", ".join(asked.policies), "as asked")
    return JobAccessPlan(buckets=asked.buckets, policies=asked.policies)


def _covers(wider: BucketGrant, grant: BucketGrant) -> bool:
    """Whether a grant gives all that another one gives."""
    return (
        wider.bucket == grant.bucket
        and grant.prefix.startswith(wider.prefix)
        # read, read-write and read-write-delete: each begins with the lesser ones.
        and wider.access.startswith(grant.access)
    )


def _words(grant: BucketGrant) -> str:
    return f"{grant.access} s3://{grant.bucket}/{grant.prefix}"


def _check_policy(notes: Notes, index: int, policy: str) -> None:
    path = ("job", "policies", index)
    if policy in notes.spec.job.policies[:index]:
        notes.problem(path, f"{policy} is there already; leave one of them out")
    for message in policy_problems(policy, notes.spec.account):
        notes.problem(path, message)
