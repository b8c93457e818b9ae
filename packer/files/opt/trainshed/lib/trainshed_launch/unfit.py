"""Marking this node unfit: it powers off, and the next attempt gets another in its place."""

from __future__ import annotations

from collections.abc import Mapping

from trainshed_launch.log import log
from trainshed_node.instance import node_path
from trainshed_node.unfit import FOLDER, MARK


def can_mark(environment: Mapping[str, str]) -> bool:
    """Return whether something sees a mark: on a node of a cluster, if its AMI is ours."""
    return node_path(environment, FOLDER).is_dir()


def mark_unfit(environment: Mapping[str, str]) -> None:
    """Mark this node, last of all: it powers off within seconds."""
    try:
        node_path(environment, f"{FOLDER}/{MARK}").touch()
    except OSError as error:
        log(f"this node was not marked unfit: {FOLDER}: {error.strerror}; terminate its instance")
