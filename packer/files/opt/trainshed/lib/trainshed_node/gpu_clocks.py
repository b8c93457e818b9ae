"""Clocks of NVIDIA GPUs, by nvidia-smi.

Follows nvidia-smi's documentation: `--query-supported-clocks` lists pairs of memory and graphics
clocks in MHz, `--applications-clocks` sets one of them. AWS's EKS AMIs set the same from a table
of GPU names; the GPU's own list needs no table.
"""

from __future__ import annotations

from trainshed_node.errors import NodeError
from trainshed_node.system import Finished, run

_FORMAT = "--format=csv,noheader,nounits"
_ABSENT = ("[N/A]", "N/A", "[Not Supported]", "Not Supported")


def gpu_indices() -> list[str]:
    """Return the numbers of the GPUs.

    Raises:
        NodeError: the driver does not answer.
    """
    done = _smi("--query-gpu=index", _FORMAT)
    return done.output.split()


def set_highest_clocks(index: str) -> str:
    """Set a GPU's application clocks to the highest pair; return what was done.

    Raises:
        NodeError: the GPU refuses a pair of its own list.
    """
    listed = _smi(f"--id={index}", "--query-supported-clocks=memory,graphics", _FORMAT)
    pairs = [
        tuple(int(clock) for clock in line.split(","))
        for line in listed.output.splitlines()
        if line.strip() and line.strip() not in _ABSENT
    ]
    left = f"GPU {index}: has no application clocks, left as it is"
    if not pairs:
        return left
    memory, graphics = max(pairs)
    done = _smi(f"--id={index}", f"--applications-clocks={memory},{graphics}")
    # It says so, treats it as a warning and exits with 0.
    if "not supported" in done.output:
        return left
    return f"GPU {index}: memory {memory} MHz, graphics {graphics} MHz"


def _smi(*arguments: str) -> Finished:
    done = run("nvidia-smi", *arguments, timeout=120)
    if not done.ok:
        command = " ".join(("nvidia-smi", *arguments))
        raise NodeError("gpu-clocks", f"{command}: {done.last_line}; see nvidia-smi -q")
    return done
