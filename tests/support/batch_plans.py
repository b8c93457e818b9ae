"""The part of a cluster's plan that is AWS Batch's."""

from trainshed.plan import BatchPlan, ClusterPlan


def batch_of(plan: ClusterPlan) -> BatchPlan:
    """Return it, of a cluster that has one."""
    assert isinstance(plan.orchestrator, BatchPlan)
    return plan.orchestrator
