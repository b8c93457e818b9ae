"""Which EC2 instance this is."""

from __future__ import annotations

import socket
from pathlib import Path

# cloud-init documentation, "Directory layout"; it is there before user data runs, at each boot.
_INSTANCE_ID = Path("/var/lib/cloud/data/instance-id")


def instance_id() -> str:
    """Return the id of the instance; the host's name where cloud-init knows none."""
    if _INSTANCE_ID.exists():
        return _INSTANCE_ID.read_text(encoding="utf-8").strip()
    return socket.gethostname()
