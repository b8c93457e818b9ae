"""Whether nodes boot an AMI that has what the pins say."""

from trainshed.plan import ClusterPlan


def takes_default_channel(plan: ClusterPlan) -> bool:
    """Whether the AMI is of our default channel; another channel may have anything."""
    return plan.spec.instance.ami.partition(":")[0] == "stable"
