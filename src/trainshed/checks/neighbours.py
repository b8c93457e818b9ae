"""The clusters that are judged together with one."""

from collections.abc import Iterable

from trainshed.plan import ClusterPlan, Fleet


def neighbours(plan: ClusterPlan, fleet: Fleet) -> list[ClusterPlan]:
    """Return the clusters of the same account and region, itself among them."""
    here = (plan.account, plan.region)
    return [each for each in fleet.clusters if (each.account, each.region) == here]


def names_of_others(plan: ClusterPlan, clusters: Iterable[ClusterPlan]) -> str:
    """Name the clusters but one, for messages; empty when there is no other."""
    return ", ".join(each.name for each in clusters if each.name != plan.name)
