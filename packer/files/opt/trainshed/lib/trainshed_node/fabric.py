"""The NVSwitches between the GPUs of a node: CUDA works when the fabric manager has set them up.

NVIDIA's Fabric Manager user guide, "Initializing NVSwitch and NVLink": from H100 on, each GPU
registers with the fabric, and CUDA fails until it has (error 802, "system not yet initialized").
The fabric manager itself sets up the GPUs before: A100 (P4), and V100 behind switches, which EC2
does not have: the GPUs of P3 are linked to each other.
"""

from __future__ import annotations

import re
import time

from trainshed_node.pci import NVSWITCHES, count
from trainshed_node.system import run

_UNIT = "nvidia-fabricmanager.service"
# Registration takes seconds; on P6 the subnet manager comes first.
_WAIT_SECONDS = 180
_PAUSE_SECONDS = 5
# Of each GPU, in what `nvidia-smi -q` prints.
_FABRIC = re.compile(r"^ *Fabric *\n *State *: *(.*?) *\n *Status *: *(.*?) *$", re.MULTILINE)
# A GPU that does not register is "N/A".
_GOOD = {("Completed", "Success"), ("N/A", "N/A")}


def fabric_problem() -> str:
    """Wait for the fabric, where there is one; return what is wrong with it, or an empty text."""
    if not count(NVSWITCHES):
        return ""
    deadline = time.monotonic() + _WAIT_SECONDS
    while (problem := _problem_now()) and time.monotonic() + _PAUSE_SECONDS <= deadline:
        time.sleep(_PAUSE_SECONDS)
    return problem


def _problem_now() -> str:
    state = run("systemctl", "is-active", _UNIT).output.strip()
    if state != "active":
        return f"the fabric manager is {state or 'unknown'} (see journalctl --unit {_UNIT})"
    asked = run("nvidia-smi", "-q", timeout=120)
    if not asked.ok:
        return f"nvidia-smi -q: {asked.last_line}"
    found = _FABRIC.findall(asked.output)
    bad = [each for each in found if each not in _GOOD]
    if bad:
        state, status = bad[0]
        return (
            f"{len(bad)} of {len(found)} GPUs are not in the NVLink fabric (state {state}, status"
            f" {status}; see journalctl --unit {_UNIT})"
        )
    return ""
