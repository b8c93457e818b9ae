"""The other nodes of a cluster, by their tags."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from trainshed_node.boot_signal import OK, TAG
from trainshed_node.errors import NodeError
from trainshed_node.system import run

HOSTS = Path("/etc/trainshed/hosts")
_CLUSTER_TAG = "trainshed:cluster"


def write_hosts(cluster: str, region: str, path: Path = HOSTS) -> None:
    """Write the addresses of the running nodes that booted well, a line each, the oldest first.

    The file is replaced as a whole, and only when it changes; it stays as it is when EC2 does not
    answer.

    Args:
        cluster: whose nodes.
        region: where they are.
        path: the file.

    Raises:
        NodeError: EC2 gave no answer.
    """
    lines = "".join(f"{address}\n" for address in _addresses(cluster, region))
    if path.exists() and path.read_text(encoding="utf-8") == lines:
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(lines)
    written = Path(file.name)
    written.chmod(0o644)
    written.replace(path)


def _addresses(cluster: str, region: str) -> list[str]:
    done = run(
        *("aws", "ec2", "describe-instances", "--region", region, "--output", "json"),
        "--filters",
        f"Name=tag:{_CLUSTER_TAG},Values={cluster}",
        f"Name=tag:{TAG},Values={OK}",
        "Name=instance-state-name,Values=running",
        "--query",
        "Reservations[].Instances[].[LaunchTime,PrivateIpAddress]",
    )
    if not done.ok:
        raise NodeError(
            str(HOSTS), f"EC2 did not list the nodes ({done.last_line}); it stays as it is"
        )
    return [address for _, address in sorted(json.loads(done.output))]
