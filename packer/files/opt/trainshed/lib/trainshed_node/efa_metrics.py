"""What the driver of EFA counts, under the names of the CloudWatch agent's `efa` section.

CloudWatch user guide, "Collect EFA metrics": the names. Linux, drivers/infiniband/hw/efa: those of
the driver, which the agent's have `efa_` before; `rx_drops` is the one that it calls otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainshed_node.errors import NodeError
from trainshed_node.series import Series

_DEVICES = Path("/sys/class/infiniband")
_DRIVER = "efa"
_OTHERWISE = {"rx_drops": "rx_dropped"}
_NOT_COUNTED = "lifespan"


def efa_metrics() -> Iterator[Series]:
    """Yield each counter of each port of each EFA device; P6 has devices of another driver.

    Raises:
        NodeError: the counters of a device cannot be read.
    """
    for folder in sorted(_DEVICES.glob("*/ports/*/hw_counters")):
        device, port = folder.parents[2], folder.parent.name
        if (device / "device" / "driver").resolve().name != _DRIVER:
            continue
        try:
            counts = {
                file.name: int(file.read_text(encoding="ascii"))
                for file in sorted(folder.iterdir())
                if file.name != _NOT_COUNTED
            }
        except (OSError, ValueError) as error:
            raise NodeError(device.name, f"{error}; see the journal of the kernel") from None
        for name, count in counts.items():
            yield Series(
                name=f"efa_{_OTHERWISE.get(name, name)}",
                kind="counter",
                value=count,
                labels={"device": device.name, "port": port},
            )
