"""Which devices a device plugin finds on a node and announces, by its image.

Kubernetes, "Device Plugins": a plugin registers itself at the kubelet's socket, in a folder of the
node. Vendors' documents: the resources. A plugin finds what its maker's driver shows, so on an AMI
without that driver nothing: EFA's driver is part of Amazon Linux 2023's kernel. Intel Gaudi
documentation, release notes 1.22: no longer the first Gaudi. A plugin that finds nothing waits.
"""

import re
from collections.abc import Mapping
from typing import Any

from embedded_aws.ec2.network_interfaces import kind_of
from embedded_aws.eks.node_machines import Machine

_SOCKETS = "/var/lib/kubelet/device-plugins"
_FIRST_GAUDI = "HL-205"
_WITHOUT_FIRST_GAUDI = (1, 22)


def is_plugin(pod: Mapping[str, Any]) -> bool:
    """Whether a pod can register itself as a device plugin: its `spec` has the kubelet's folder."""
    folders = [each.get("hostPath", {}).get("path", "") for each in pod.get("volumes", [])]
    return _SOCKETS in [folder.rstrip("/") for folder in folders]


def devices(machine: Machine, pod: Mapping[str, Any]) -> dict[str, int]:
    """Return what a device plugin announces.

    Args:
        machine: what its node runs on.
        pod: its `spec`.
    """
    announced: dict[str, int] = {}
    for container in pod["containers"]:
        name, _, version = container["image"].rpartition("/")[2].partition(":")
        privileged = bool(container.get("securityContext", {}).get("privileged"))
        match name:
            case "aws-efa-k8s-device-plugin" if privileged:
                announced |= _efa(machine)
            case "docker-k8s-device-plugin" if privileged:
                announced |= _gaudi(machine, version)
            case "neuron-device-plugin":
                announced |= _neuron(machine)
            case "k8s-device-plugin" if "nvidia" in container["image"]:
                announced |= _nvidia(machine)
    return {resource: count for resource, count in announced.items() if count}


def _efa(machine: Machine) -> dict[str, int]:
    found = [each for each in machine.interfaces if kind_of(each).startswith("efa")]
    return {"vpc.amazonaws.com/efa": len(found)}


def _gaudi(machine: Machine, version: str) -> dict[str, int]:
    cards = _gpus(machine, "Habana")
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    known = bool(numbers) and numbers < _WITHOUT_FIRST_GAUDI
    found = [each for each in cards if known or _FIRST_GAUDI not in each["Name"]]
    return {"habana.ai/gaudi": sum(each["Count"] for each in found)}


def _neuron(machine: Machine) -> dict[str, int]:
    if not machine.has_driver("neuron"):
        return {}
    found = machine.record.get("NeuronInfo", {}).get("NeuronDevices", [])
    cores = sum(each["Count"] * each["CoreInfo"]["Count"] for each in found)
    return {
        "aws.amazon.com/neuron": sum(each["Count"] for each in found),
        "aws.amazon.com/neuroncore": cores,
    }


def _nvidia(machine: Machine) -> dict[str, int]:
    return {"nvidia.com/gpu": sum(each["Count"] for each in _gpus(machine, "NVIDIA"))}


def _gpus(machine: Machine, maker: str) -> list[Any]:
    if not machine.has_driver(maker.lower()):
        return []
    gpus = machine.record.get("GpuInfo", {}).get("Gpus", [])
    return [each for each in gpus if each["Manufacturer"] == maker]
