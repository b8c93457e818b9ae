"""Whether nodes boot an AMI that has what the pins say."""

from trainshed.ami.channel import Channel
from trainshed.plan import ClusterPlan


def takes_default_channel(plan: ClusterPlan) -> bool:
    """Whether the AMI is of our default channel; another channel may have anything."""
    channel = Channel.of_parameter(plan.ami.asked)
    return channel is not None and channel.name == "stable"
