"""The devices that one node must have."""

from collections.abc import Iterable

from trainshed.catalogue import InstanceType
from trainshed.interfaces import NetworkInterface


def node_devices(instance: InstanceType, interfaces: Iterable[NetworkInterface]) -> dict[str, int]:
    """Count them by kind: `efa`, and the family of the accelerator, for instance `neuron`.

    Args:
        instance: the type's facts.
        interfaces: those that the node is launched with; an EFA device comes with each of EFA.
    """
    efa = sum(row.kind.has_efa for row in interfaces)
    accelerator = {instance.accelerator.family.value: instance.accelerator.count}
    return {"efa": efa} | accelerator if efa else accelerator
