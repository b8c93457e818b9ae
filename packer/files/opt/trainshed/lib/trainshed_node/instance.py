"""Which EC2 instance this is."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# cloud-init documentation, "Directory layout"; it is there before user data runs, at each boot.
_INSTANCE_ID = Path("/var/lib/cloud/data/instance-id")
_METADATA = "http://169.254.169.254"
_SECONDS = 1


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


def ask_metadata(environment: Mapping[str, str]) -> Instance | None:
    """Return what the instance metadata service says, also to a container; None without an answer.

    EC2 user guide, "Use the Instance Metadata Service": version 2, which containers reach by a hop
    limit of 2. AWS's SDKs and tools reference, "IMDS client", has the variables.

    Args:
        environment: of this process.
    """
    if environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    # Here, because loading them takes a third of the time in which a program of the node starts.
    from http.client import HTTPException
    from urllib.request import ProxyHandler, Request, build_opener

    service = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", _METADATA).rstrip("/")
    # The service is on this machine: a proxy does not reach it.
    opener = build_opener(ProxyHandler({}))
    lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    asked = Request(f"{service}/latest/api/token", headers=lifetime, method="PUT")
    try:
        with opener.open(asked, timeout=_SECONDS) as answer:
            token = {"X-aws-ec2-metadata-token": answer.read().decode()}
        identity = f"{service}/latest/dynamic/instance-identity/document"
        with opener.open(Request(identity, headers=token), timeout=_SECONDS) as answer:
            document = json.load(answer)
        return Instance(name=document["instanceId"], region=document["region"])
    except (OSError, HTTPException, ValueError, KeyError):
        return None
