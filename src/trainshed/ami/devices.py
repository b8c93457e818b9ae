"""The devices that an AMI must find on the type that it is tested on."""

from collections.abc import Mapping
from typing import Any

from trainshed.ami.ami import Ami
from trainshed.catalogue import InstanceType, lookup
from trainshed.errors import Failure, UnknownName
from trainshed.interfaces import InterfaceProfile, NetworkInterface, plan_interfaces


def known_type(name: str, ami: Ami) -> InstanceType | None:
    """Return what the catalogue says of a type; None for one without accelerators.

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
    wanted = {
        "efa device": sum(row.kind.has_efa for row in efa_interfaces(instance)),
        f"{instance.accelerator.family.value} device": instance.accelerator.count,
    }
    known = {result["name"] for result in selftest["components"]}
    absent = [_result(name) for name in wanted if name not in known]
    components = [
        _judged(result, wanted.get(result["name"], 0), instance.name)
        for result in (*selftest["components"], *absent)
    ]
    passed = selftest["ok"] and all(result["state"] != "failed" for result in components)
    return selftest | {"components": components, "ok": passed}


def _result(name: str) -> dict[str, Any]:
    """The result for devices that the self-test of an AMI does not know."""
    return {"name": name, "version": "", "expected": "", "state": "unchecked", "detail": ""}


def _judged(result: Mapping[str, Any], wanted: int, type_name: str) -> dict[str, Any]:
    if not wanted or result["version"] == str(wanted):
        return dict(result)
    why = f"{type_name} has {wanted}, and the AMI found {result['version'] or 'none'}"
    detail = "; ".join(part for part in (why, result["detail"]) if part)
    return {**result, "expected": str(wanted), "state": "failed", "detail": detail}
