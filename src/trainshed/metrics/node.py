"""What nodes tell about their memory and disks, and how many powered themselves off.

CloudWatch user guide, "Metrics collected by the CloudWatch agent on Linux": names and units. Of
disks there are values for `/` and `/scratch`.
"""

from dataclasses import dataclass, fields

from trainshed.metrics.metric import Metric, MetricUnit, Statistic

_AGENT = "amazon-cloudwatch-agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMetrics:
    """Metrics of a node's memory and disks.

    Attributes:
        memory: used part.
        disk: used part of the fullest file system.
        inodes: free ones, where the fewest are.
    """

    memory: Metric
    disk: Metric
    inodes: Metric

    @property
    def all(self) -> tuple[Metric, ...]:
        """Each of them."""
        return tuple(getattr(self, each.name) for each in fields(self))


NODE_METRICS = NodeMetrics(
    memory=Metric(
        name="mem_used_percent", unit=MetricUnit.PERCENT, statistic=Statistic.MAXIMUM, source=_AGENT
    ),
    disk=Metric(
        name="disk_used_percent",
        unit=MetricUnit.PERCENT,
        statistic=Statistic.MAXIMUM,
        source=_AGENT,
    ),
    inodes=Metric(
        name="disk_inodes_free", unit=MetricUnit.COUNT, statistic=Statistic.MINIMUM, source=_AGENT
    ),
)

# What the function of `FailedBootLimit` sends.
NODES_POWERED_OFF = Metric(
    name="NodesPoweredOff",
    namespace="trainshed/boots",
    unit=MetricUnit.COUNT,
    statistic=Statistic.SUM,
    source="FailedBootLimit",
)
