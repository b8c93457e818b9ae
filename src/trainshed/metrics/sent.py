"""Which metrics a cluster's nodes send."""

from trainshed.metrics.accelerators import accelerator_metrics
from trainshed.metrics.efa import EFA_METRICS
from trainshed.metrics.metric import Metric
from trainshed.metrics.node import NODE_METRICS

# Of a cluster, by its name: the events from which CloudWatch makes metrics.
METRICS_LOG_GROUP = "/trainshed/{cluster}/metrics"


def sent_metrics(accelerator: str, agent: str, *, efa: bool) -> tuple[Metric, ...]:
    """Return the metrics that each node of a cluster with monitoring sends.

    Args:
        accelerator: `habana`, `neuron` or `nvidia`.
        agent: of the AMI, for instance `ecs` or `eks-1.35`.
        efa: the nodes have EFA devices.
    """
    return (
        *NODE_METRICS.all,
        *(EFA_METRICS.all if efa else ()),
        *accelerator_metrics(accelerator, agent).all,
    )
