"""Which EC2 instance this is."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# cloud-init documentation, "Directory layout"; it is there before user data runs, at each boot.
_INSTANCE_ID = Path("/var/lib/cloud/data/instance-id")
_ASSET_TAG = "/sys/class/dmi/id/board_asset_tag"
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
    the board. Containers of our AMIs do not reach the instance metadata service.

    Args:
        environment: of this process.
        region: of the instance; empty if nothing says it.
    """
    try:
        name = node_path(environment, _ASSET_TAG).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return Instance(name, region) if region and _NAME.fullmatch(name) else None


def node_path(environment: Mapping[str, str], path: str) -> Path:
    """Return where a file of this node is, which nodes that share a machine have each elsewhere.

    Args:
        environment: of this process.
        path: on a node of EC2.
    """
    return Path(environment.get(_NODE, "/"), path.lstrip("/"))
