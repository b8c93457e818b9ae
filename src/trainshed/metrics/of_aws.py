"""What services of AWS send by themselves, at no price."""

from dataclasses import dataclass

from trainshed.metrics.metric import Metric, MetricUnit, Statistic


def _lustre(name: str, unit: MetricUnit, statistic: Statistic, *more: str) -> Metric:
    return _of("AWS/FSx", ("FileSystemId", *more), name, unit, statistic)


def _group(name: str) -> Metric:
    dimensions = ("AutoScalingGroupName",)
    return _of("AWS/AutoScaling", dimensions, name, MetricUnit.NONE, Statistic.MINIMUM)


def _of(
    namespace: str,
    dimensions: tuple[str, ...],
    name: str,
    unit: MetricUnit,
    statistic: Statistic,
) -> Metric:
    return Metric(
        name=name,
        namespace=namespace,
        dimensions=dimensions,
        unit=unit,
        statistic=statistic,
        source=namespace,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreMetrics:
    """FSx for Lustre user guide, "Amazon FSx for Lustre metrics and dimensions".

    Attributes:
        free: capacity, of each storage target.
        used: that files take, as they are stored, of all storage targets together.
        read: bytes.
        written: bytes.
    """

    free: Metric
    used: Metric
    read: Metric
    written: Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoScalingMetrics:
    """EC2 Auto Scaling user guide, "Amazon CloudWatch metrics"; a group sends them if told to.

    Attributes:
        desired: nodes that the group wants.
        in_service: nodes that it has.
    """

    desired: Metric
    in_service: Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMetrics:
    """EventBridge user guide, "Monitoring Amazon EventBridge": a rule of the default bus.

    AWS Batch sends events and no metrics; a rule that matches its failed jobs counts them.

    Attributes:
        matched: events that the rule matched; there are no data where there are none.
    """

    matched: Metric


LUSTRE_METRICS = LustreMetrics(
    free=_lustre("FreeDataStorageCapacity", MetricUnit.BYTES, Statistic.SUM, "StorageTargetId"),
    used=_lustre("PhysicalDiskUsage", MetricUnit.BYTES, Statistic.SUM),
    read=_lustre("DataReadBytes", MetricUnit.BYTES, Statistic.SUM),
    written=_lustre("DataWriteBytes", MetricUnit.BYTES, Statistic.SUM),
)
AUTO_SCALING_METRICS = AutoScalingMetrics(
    desired=_group("GroupDesiredCapacity"),
    in_service=_group("GroupInServiceInstances"),
)
RULE_METRICS = RuleMetrics(
    matched=_of("AWS/Events", ("RuleName",), "TriggeredRules", MetricUnit.COUNT, Statistic.SUM),
)
