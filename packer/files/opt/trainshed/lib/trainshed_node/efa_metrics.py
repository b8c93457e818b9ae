"""What the driver of EFA counts, under the names of the CloudWatch agent's `efa` section.

CloudWatch user guide, "Collect EFA metrics": the names. Linux, drivers/infiniband/hw/efa: those of
the driver, which the agent's have `efa_` before; `rx_drops` is the one that it calls otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainshed_node.series import Series

DEVICES = Path("/sys/class/infiniband")
_DRIVER = "efa"
_OTHERWISE = {"rx_drops": "rx_dropped"}
_NOT_COUNTED = "lifespan"


def efa_metrics(devices: Path = DEVICES) -> Iterator[Series]:
    """Yield each counter of each port of each EFA device; P6 has devices of another driver."""
    for folder in sorted(devices.glob("*/ports/*/hw_counters")):
        device, port = folder.parents[2], folder.parent.name
        if (device / "device" / "driver").resolve().name != _DRIVER:
            continue
        for file in sorted(folder.iterdir()):
            if file.name != _NOT_COUNTED:
                yield Series(
                    name=f"efa_{_OTHERWISE.get(file.name, file.name)}",
                    kind="counter",
                    value=int(file.read_text(encoding="ascii")),
                    labels={"device": device.name, "port": port},
                )
