"""Which EC2 instance this is."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

# cloud-init documentation, "Directory layout"; it is there before user data runs, at each boot.
_INSTANCE_ID = Path("/var/lib/cloud/data/instance-id")
_ASSET_TAG = "/sys/class/dmi/id/board_asset_tag"
# The first is Xen's alone.
_UUIDS = ("/sys/hypervisor/uuid", "/sys/class/dmi/id/product_uuid")
_NAME = re.compile(r"i-[0-9a-f]+")
# The variable with the folder of a node's own files, on an embedded AWS.
_NODE = "EMBEDDED_AWS_NODE"


@dataclass(frozen=True)
class Instance:
    """An EC2 instance.

    Attributes:
        name: its id.
        region: where it runs.
    """

    name: str
    region: str


def instance_id() -> str:
    """Return the id of the instance; the host's name where cloud-init knows none."""
    if _INSTANCE_ID.exists():
        return _INSTANCE_ID.read_text(encoding="utf-8").strip()
    return socket.gethostname()


def this_instance(environment: Mapping[str, str], region: str) -> Instance | None:
    """Return which instance this is, also in a container; None where the hardware does not say.

    EC2 user guide, "Detect whether a host is an EC2 instance": on Nitro instances the asset tag of
    the board, which those on Xen, as P3, do not have. Containers of our AMIs do not reach the
    instance metadata service.

    Args:
        environment: of this process.
        region: of the instance; empty if nothing says it.
    """
    try:
        name = node_path(environment, _ASSET_TAG).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return Instance(name, region) if region and _NAME.fullmatch(name) else None


def is_instance(environment: Mapping[str, str]) -> bool:
    """Return whether the hardware says that this is an instance of EC2, on Nitro or on Xen.

    EC2 user guide, "Detect whether a host is an EC2 instance": the UUID of the system begins with
    `ec2` in either case. Firmware may have it in little-endian order: `45E12AEC` for `EC2AE145`.
    Root alone may read the firmware's.

    Args:
        environment: of this process.
    """
    if this_instance(environment, "unknown"):
        return True
    for path in _UUIDS:
        try:
            found = UUID(node_path(environment, path).read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            continue
        if any(order.hex().startswith("ec2") for order in (found.bytes, found.bytes_le)):
            return True
    return False


def node_path(environment: Mapping[str, str], path: str) -> Path:
    """Return where a file of this node is, which nodes that share a machine have each elsewhere.

    Args:
        environment: of this process.
        path: on a node of EC2.
    """
    return Path(environment.get(_NODE, "/"), path.lstrip("/"))
