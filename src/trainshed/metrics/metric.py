"""One metric of CloudWatch."""

from dataclasses import dataclass
from enum import StrEnum

NAMESPACE = "trainshed"
CLUSTER = "Cluster"
INSTANCE = "InstanceId"


class Statistic(StrEnum):
    """How the values of a period, also those of several devices and nodes, become one."""

    AVERAGE = "Average"
    MAXIMUM = "Maximum"
    MINIMUM = "Minimum"
    SUM = "Sum"


class MetricUnit(StrEnum):
    """Units of CloudWatch (API reference, MetricDatum)."""

    BYTES = "Bytes"
    COUNT = "Count"
    MEGABYTES = "Megabytes"
    NONE = "None"
    PERCENT = "Percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric, and how to read it.

    A metric of ours has the value of each device under the dimension `Cluster` alone, and under
    `Cluster` and `InstanceId` together: CloudWatch makes one value of them by the statistic.

    Attributes:
        name: as CloudWatch has it, which is as the program calls it that measures it.
        namespace: `trainshed`, or that of the service that sends it.
        dimensions: names of the fewest dimensions with which it is sent.
        unit: of its values.
        statistic: that tells what it is for.
        source: program or service that sends it.
        label: which of its Prometheus series are sent: a label, and the regular expression (RE2)
            that its whole value must match; None for all.
        is_counter: a Prometheus counter, of which the growth since the last reading is sent.
    """

    name: str
    namespace: str = NAMESPACE
    dimensions: tuple[str, ...] = (CLUSTER,)
    unit: MetricUnit
    statistic: Statistic
    source: str
    label: tuple[str, str] | None = None
    is_counter: bool = False
