"""A reboot before a node is replaced, where another instance may come on the same hardware.

That is so in a Capacity Reservation or Capacity Block, which has no more instances than it has
hardware for. A node reboots itself once: what a reboot does not repair ends it.
"""

from __future__ import annotations

from pathlib import Path

from trainshed_node.instance import instance_id
from trainshed_node.settings import Settings
from trainshed_node.system import run

# On the root volume, for this instance alone: an AMI may be made of it.
_DONE = "/var/lib/trainshed/rebooted-{}"


def reboot_once(settings: Settings) -> bool:
    """Reboot, where that is worth a try; return whether the reboot has begun."""
    done = Path(_DONE.format(instance_id()))
    if not settings.reserved or done.exists():
        return False
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()
    print("trainshed: reboots, once, because this node is reserved", flush=True)
    return run("systemctl", "--no-block", "reboot").ok
