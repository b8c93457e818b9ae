"""What the driver of EFA has counted on all devices of this node together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from trainshed_node.efa_metrics import efa_metrics

# What is shown, and the metrics that it is the sum of. Older drivers have no retransmissions.
_SUMS = {
    "sent": ("efa_tx_bytes",),
    "received": ("efa_rx_bytes",),
    "dropped": ("efa_rx_dropped",),
    "retransmitted": ("efa_retrans_pkts",),
    "timeouts": ("efa_retrans_timeout_events",),
    "faults": ("efa_impaired_remote_conn_events", "efa_unresponsive_remote_events"),
}


@dataclass(frozen=True)
class EfaCounters:
    """What was counted since the devices were there.

    Attributes:
        devices: how many there are.
        sums: of all devices: bytes sent and received, packets dropped and retransmitted, time-outs
            of these, and faults: peers that lost too much, or did not answer at all.
    """

    devices: int
    sums: dict[str, int]


def read_counters() -> EfaCounters:
    """Read them.

    Raises:
        NodeError: those of a device cannot be read.
    """
    devices, counted = set[str](), Counter[str]()
    for each in efa_metrics():
        devices.add(each.labels["device"])
        counted[each.name] += int(each.value)
    return EfaCounters(
        devices=len(devices),
        sums={shown: sum(counted[name] for name in names) for shown, names in _SUMS.items()},
    )
