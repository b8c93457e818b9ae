"""The facts about jobs of every orchestrator."""

from collections.abc import Iterator

from trainshed.parts.model import Fact
from trainshed.plan import ClusterPlan


def job_facts(plan: ClusterPlan) -> Iterator[Fact]:
    """Yield what jobs get: time, variables, buckets and policies."""
    limit = f"{plan.jobs.timeout_hours} hours"
    yield Fact(name="time limit of a job", value=limit, minor=True)
    # Names only: a value may be one that should not be in a report.
    yield Fact(
        name="variables of a job", value=", ".join(sorted(plan.asked_environment)), minor=True
    )
    grants = (f"{each.access} s3://{each.bucket}/{each.prefix}" for each in plan.job_access.buckets)
    yield Fact(name="buckets of a job", value=", ".join(grants), minor=True)
    yield Fact(name="policies of a job", value=", ".join(plan.job_access.policies), minor=True)
