"""The part of a cluster's plan that is AWS Batch's."""

from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.plan import ClusterPlan


def batch_of(plan: ClusterPlan) -> BatchPlan:
    """Return it, of a cluster that has one."""
    assert isinstance(plan.jobs, BatchPlan)
    return plan.jobs
