"""What Gaudi accelerators say of themselves, under the names of Intel's exporter.

Intel's guide "Prometheus Metric Exporter" has the names; the exporter is a container that it starts
with all privileges, and no package. Guide "System Management Interface Tool (hl-smi)": the fields.
Memory is in MiB and power in watts. `trainshed_hpu_ecc_uncorrected`, errors since the device
was reset, is a name of ours.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from trainshed_node.series import Series
from trainshed_node.tool_tables import number, rows

# Less than the agent waits for the exporter (scrape_timeout).
_SECONDS = 8
_MIB = 1024 * 1024
# Name, kind and factor of each field.
_FIELDS = {
    "utilization.aip": ("habanalabs_utilization", "gauge", 1),
    "memory.used": ("habanalabs_memory_used_bytes", "gauge", _MIB),
    "temperature.aip": ("habanalabs_temperature_onchip", "gauge", 1),
    "power.draw": ("habanalabs_power_mW", "gauge", 1000),
    "ecc.errors.uncorrected.volatile.total": ("trainshed_hpu_ecc_uncorrected", "counter", 1),
}
_QUERY = ",".join(("index", *_FIELDS))


def habana_metrics() -> Iterator[Series]:
    """Yield the series of each device; none where there is no hl-smi.

    Raises:
        NodeError: hl-smi fails.
    """
    if not shutil.which("hl-smi"):
        return
    table = rows("hl-smi", "-Q", _QUERY, "-f", "csv,noheader,nounits", timeout=_SECONDS)
    for index, *values in table:
        for value, (name, kind, factor) in zip(map(number, values), _FIELDS.values()):
            if value is not None:
                yield Series(name, kind, value * factor, {"device": index})
