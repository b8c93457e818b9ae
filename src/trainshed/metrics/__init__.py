"""The metrics of a cluster, each written once: who sends them, and which tell what.

What runs on nodes is generated from here (`trainshed.metrics.agent`); dashboards, alarms and
`trainshed status` read here what to ask CloudWatch for.
"""

from trainshed.metrics.accelerators import AcceleratorMetrics, accelerator_metrics
from trainshed.metrics.efa import EFA_METRICS, EfaMetrics
from trainshed.metrics.metric import CLUSTER, INSTANCE, NAMESPACE, Metric, MetricUnit, Statistic
from trainshed.metrics.node import NODE_METRICS, NODES_POWERED_OFF, NodeMetrics
from trainshed.metrics.of_aws import (
    AUTO_SCALING_METRICS,
    LUSTRE_METRICS,
    RULE_METRICS,
    AutoScalingMetrics,
    LustreMetrics,
    RuleMetrics,
)
from trainshed.metrics.sent import METRICS_LOG_GROUP, sent_metrics

__all__ = [
    "AUTO_SCALING_METRICS",
    "CLUSTER",
    "EFA_METRICS",
    "INSTANCE",
    "LUSTRE_METRICS",
    "METRICS_LOG_GROUP",
    "NAMESPACE",
    "NODES_POWERED_OFF",
    "NODE_METRICS",
    "RULE_METRICS",
    "AcceleratorMetrics",
    "AutoScalingMetrics",
    "EfaMetrics",
    "LustreMetrics",
    "Metric",
    "MetricUnit",
    "NodeMetrics",
    "RuleMetrics",
    "Statistic",
    "accelerator_metrics",
    "sent_metrics",
]
