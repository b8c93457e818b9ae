"""Marking this node unfit: it goes down, and the next attempt gets another in its place.

In a reservation it reboots first, once, and may be back for a later attempt.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping

from trainshed_launch.log import log
from trainshed_node.instance import node_path
from trainshed_node.unfit import FOLDER, MARK

# From the mark until the kubelet is down, five seconds after it, with some to spare. It is less
# than the 30 seconds that Kubernetes leaves a pod, so that this process ends with its own code.
_POWER_OFF_SECONDS = 20


def can_mark(environment: Mapping[str, str]) -> bool:
    """Return whether something sees a mark: on a node of a cluster, if its AMI is ours."""
    return node_path(environment, FOLDER).is_dir()


def mark_unfit(environment: Mapping[str, str]) -> bool:
    """Mark this node, last of all: it goes down within seconds. Return whether it does."""
    if not can_mark(environment):
        return False
    try:
        node_path(environment, f"{FOLDER}/{MARK}").touch()
    except OSError as error:
        log(f"this node was not marked unfit: {FOLDER}: {error.strerror}; terminate its instance")
        return False
    return True


async def outlast_node() -> None:
    """Stay until this node is down.

    Kubernetes starts all pods of a job again once each has ended, which takes it two seconds: on
    the nodes that there are. While this pod has not ended, no attempt is lost on this node. A pod
    whose node is gone counts as ended.
    """
    log("this node goes down; its pod stays until then, so that the next attempt gets another one")
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, lambda: None)
    await asyncio.sleep(_POWER_OFF_SECONDS)
