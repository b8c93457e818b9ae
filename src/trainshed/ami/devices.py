"""The devices that an AMI must find on the type that it is tested on."""

from typing import Any

from trainshed.ami.ami import Ami
from trainshed.catalogue import InstanceType, lookup
from trainshed.errors import Failure, UnknownName
from trainshed.interfaces import InterfaceProfile, NetworkInterface, plan_interfaces
from trainshed.nodes.devices import node_devices


def known_type(name: str, ami: Ami) -> InstanceType | None:
    """Return what the catalogue says about a type; None for one without accelerators.

    Raises:
        Failure: the AMI is for another accelerator than the type has.
    """
    try:
        instance = lookup(name)
    except UnknownName:
        return None
    family, needed = instance.accelerator.family.value, ami.tag("accelerator")
    if family != needed:
        raise Failure(
            f"{ami.image_id} is for {needed}, and {name} has {instance.accelerator}; "
            "test it on a type of its own accelerator"
        )
    return instance


def efa_interfaces(instance: InstanceType) -> tuple[NetworkInterface, ...]:
    """Return the network interfaces with all EFA devices of a type; none without EFA."""
    if not instance.efa_interfaces_max:
        return ()
    return plan_interfaces(instance, InterfaceProfile.EC2)


def require_devices(selftest: dict[str, Any], instance: InstanceType) -> dict[str, Any]:
    """Return a self-test in which every device that is missing is a failure.

    Args:
        selftest: its JSON; `version` of a device's result is how many were found.
        instance: the type that it ran on, with all of `efa_interfaces`.
    """
    devices = node_devices(instance, efa_interfaces(instance))
    wanted = {f"{kind} device": count for kind, count in devices.items()}
    components = {result["name"]: {**result} for result in selftest["components"]}
    for name, count in wanted.items():
        # The self-test of an older AMI does not know every device.
        unknown = {"name": name, "version": "", "expected": "", "state": "unchecked", "detail": ""}
        result = components.setdefault(name, unknown)
        if count and result["version"] != str(count):
            why = f"{instance.name} has {count}, and the AMI found {result['version'] or 'none'}"
            detail = "; ".join(filter(None, (why, result["detail"])))
            result |= {"expected": str(count), "state": "failed", "detail": detail}
    passed = selftest["ok"] and all(each["state"] != "failed" for each in components.values())
    return selftest | {"components": [*components.values()], "ok": passed}
