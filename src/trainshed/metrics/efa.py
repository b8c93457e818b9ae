"""What nodes tell about their EFA devices.

CloudWatch user guide, "Collect EFA metrics": the names, and that they are sent as what a counter
grew by. The agent's own `efa` section is not used: the agent's JSON schema has no
`append_dimensions` in it, and without the cluster's name there is no roll-up of the cluster for an
alarm. The exporter of our AMIs (`/opt/trainshed/exporter`) prints the same counters under the same
names.
"""

from dataclasses import dataclass, fields

from trainshed.metrics.exporters import OURS
from trainshed.metrics.metric import Metric, MetricUnit, Statistic


def _counter(name: str, unit: MetricUnit) -> Metric:
    return Metric(name=name, unit=unit, statistic=Statistic.SUM, source=OURS.name, is_counter=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class EfaMetrics:
    """The metrics of EFA devices; they stay flat when a job uses TCP instead.

    Attributes:
        sent: bytes.
        received: bytes.
        dropped: packets received and dropped.
        timeouts: retransmissions after no answer came.
        impaired: connections to a peer that lost too much.
        unresponsive: peers that did not answer at all.
    """

    sent: Metric
    received: Metric
    dropped: Metric
    timeouts: Metric
    impaired: Metric
    unresponsive: Metric

    @property
    def all(self) -> tuple[Metric, ...]:
        """Each of them."""
        return tuple(getattr(self, each.name) for each in fields(self))


EFA_METRICS = EfaMetrics(
    sent=_counter("efa_tx_bytes", MetricUnit.BYTES),
    received=_counter("efa_rx_bytes", MetricUnit.BYTES),
    dropped=_counter("efa_rx_dropped", MetricUnit.COUNT),
    timeouts=_counter("efa_retrans_timeout_events", MetricUnit.COUNT),
    impaired=_counter("efa_impaired_remote_conn_events", MetricUnit.COUNT),
    unresponsive=_counter("efa_unresponsive_remote_events", MetricUnit.COUNT),
)
