"""What a node finds out about itself before it takes part in a job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from trainshed_launch.errors import CONFIGURATION_ERROR, PEER_LOST, LaunchError
from trainshed_launch.notice import ends_soon
from trainshed_launch.unfit import can_mark
from trainshed_node.devices import device_problems
from trainshed_node.errors import NodeError
from trainshed_node.instance import Instance, node_path, this_instance
from trainshed_node.settings import SETTINGS, Settings, device_counts, read_settings

# Of the entrypoint of our images.
_PROBLEM = "TRAINSHED_PROBLEM"
_DEVICES = "TRAINSHED_DEVICES"
_ACCELERATOR = "TRAINSHED_ACCELERATOR"
_REGION = "AWS_REGION"
_WITHOUT_DEVICES = ("", "cpu")
# In a rehearsal: this node has lost the devices that the job definition counts on.
_LOST_DEVICES = "/run/trainshed/lost-devices"


@dataclass(frozen=True)
class ThisNode:
    """This node.

    Attributes:
        problem: why it cannot take part; empty if it can.
        code: exit code of the job in that case.
        unfit: it lacks a device, and is no node for other jobs either.
        instance: which EC2 instance it is; None when nothing says so.
    """

    problem: str
    code: int
    unfit: bool
    instance: Instance | None


def examine(environment: Mapping[str, str]) -> ThisNode:
    """Check the devices of this node, and find out which instance it is; takes seconds.

    Args:
        environment: of this process.

    Raises:
        LaunchError: what says which devices there must be cannot be understood.
    """
    try:
        # As the job definition says, or on a plain node its user data.
        instance = this_instance(
            environment, environment.get(_REGION) or _settings(environment).region
        )
        if deadline := ends_soon(environment):
            said = f"EC2 takes it back at {deadline}"
            return ThisNode(said, PEER_LOST, False, instance)
        if _PROBLEM in environment:
            return ThisNode(environment[_PROBLEM], CONFIGURATION_ERROR, False, instance)
        problems = [*device_problems(_expected_devices(environment))]
    except NodeError as error:
        raise LaunchError(str(error)) from error
    said = "; ".join(each.text for each in problems)
    if any(each.of_node for each in problems):
        name = instance.name if instance else "its instance"
        remedy = f"{name} goes down" if can_mark(environment) else f"terminate {name}"
        said += (
            f"; {remedy}, and if the next one says the same, correct the AMI, the launch template "
            "or the job definition"
        )
        # Another attempt may get other nodes.
        return ThisNode(said, PEER_LOST, True, instance)
    if problems:
        said += "; install it in the image, as trainshed container build does"
    return ThisNode(said, CONFIGURATION_ERROR, False, instance)


def _expected_devices(environment: Mapping[str, str]) -> Mapping[str, int]:
    """Return what the job definition counts on, or on a plain node its user data.

    The same job definition runs without devices in a rehearsal, where the image is the one for
    CPUs, or none of ours.
    """
    stated = environment.get(_DEVICES)
    if stated is None:
        return _settings(environment).devices
    has_none = environment.get(_ACCELERATOR, "") in _WITHOUT_DEVICES
    if has_none and not node_path(environment, _LOST_DEVICES).exists():
        return {}
    try:
        document = json.loads(stated)
    except ValueError as error:
        raise NodeError(_DEVICES, f"is not JSON ({error}); correct it") from None
    if not isinstance(document, dict):
        raise NodeError(_DEVICES, f"must be a JSON object, not {stated}; correct it")
    return device_counts(document, _DEVICES)


def _settings(environment: Mapping[str, str]) -> Settings:
    """Return what the user data of this node says."""
    return read_settings(node_path(environment, str(SETTINGS)))
