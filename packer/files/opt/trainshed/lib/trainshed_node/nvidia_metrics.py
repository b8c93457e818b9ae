"""What NVIDIA's GPUs say of themselves where there is no DCGM, under the names of its exporter.

On EKS, AWS's add-ons bring a DCGM of their own in a container, and NVIDIA advises against two on
one node: they may lock each other up in the driver (NVIDIA/DCGM, issue 108). nvidia-smi's
documentation, "--help-query-gpu" and "--help-query-remapped-rows": the fields, with memory in MiB
and power in watts, as DCGM has them. The last XID is not among them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from trainshed_node.errors import NodeError
from trainshed_node.series import Series
from trainshed_node.tool_tables import number, rows

_DEVICES = Path("/dev")
# Both queries take less than the agent waits for the exporter (scrape_timeout).
_SECONDS = 4
# Name and kind of each field.
_OF_GPUS = {
    "utilization.gpu": ("DCGM_FI_DEV_GPU_UTIL", "gauge"),
    "memory.used": ("DCGM_FI_DEV_FB_USED", "gauge"),
    "temperature.gpu": ("DCGM_FI_DEV_GPU_TEMP", "gauge"),
    "power.draw": ("DCGM_FI_DEV_POWER_USAGE", "gauge"),
    "ecc.errors.uncorrected.volatile.total": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "counter"),
}
_OF_ROWS = {
    "remapped_rows.failure": ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge"),
    "remapped_rows.uncorrectable": ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter"),
}
_WORDS = {"No": "0", "Yes": "1"}


def nvidia_metrics() -> Iterator[Series]:
    """Yield the series of each GPU; none where there is no GPU, or DCGM's exporter tells them.

    Raises:
        NodeError: nvidia-smi fails.
    """
    if shutil.which("dcgm-exporter") or not any(_DEVICES.glob("nvidia[0-9]*")):
        return
    yield from _series("--query-gpu", "pci.bus_id", _OF_GPUS)
    # GPUs before Ampere remap no rows, and what nvidia-smi says of them then is not documented.
    with suppress(NodeError):
        yield from _series("--query-remapped-rows", "gpu_bus_id", _OF_ROWS)


def _series(query: str, identity: str, fields: Mapping[str, tuple[str, str]]) -> Iterator[Series]:
    """Ask for some fields; both queries know a GPU by its place on the bus."""
    asked = f"{query}={','.join((identity, *fields))}"
    table = rows("nvidia-smi", asked, "--format=csv,noheader,nounits", timeout=_SECONDS)
    for place, *values in table:
        for value, (name, kind) in zip(values, fields.values()):
            found = number(_WORDS.get(value, value))
            if found is not None:
                yield Series(name, kind, found, {"pci_bus_id": place})
