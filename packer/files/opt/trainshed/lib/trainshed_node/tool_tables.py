"""What nvidia-smi and hl-smi print when they are asked for a table: CSV without heading and units.

nvidia-smi's documentation, "--format"; Intel's guide "System Management Interface Tool (hl-smi)".
"""

from __future__ import annotations

from collections.abc import Iterator

from trainshed_node.errors import NodeError
from trainshed_node.system import run


def rows(*command: str, timeout: float) -> Iterator[list[str]]:
    """Yield the values of each line that a tool prints.

    Args:
        command: the tool and its arguments.
        timeout: seconds until it is killed.

    Raises:
        NodeError: it fails, or takes longer.
    """
    done = run(*command, timeout=timeout)
    if not done.ok:
        raise NodeError(command[0], f"{done.last_line}; replace the node if that stays")
    for line in done.output.splitlines():
        yield [value.strip() for value in line.split(",")]


def number(value: str) -> float | None:
    """Return a number; None for what a device does not have, such as `N/A` or `[N/A]`."""
    try:
        return float(value)
    except ValueError:
        return None
