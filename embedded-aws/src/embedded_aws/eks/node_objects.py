"""A node as its kubelet registers it, and what others then add.

Kubernetes, "Well-Known Labels": those of kubelets and of the cloud's controller. EKS user guide,
"Simplify node lifecycle with managed node groups": labels and taints of node groups; with an AMI of
the user's they come after the node, since EKS adds nothing to its user data. Documented for
HyperPod, from memory for EKS: labels of the place in the network.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.zones import zone_of
from embedded_aws.eks.kubelet_port import KUBELET_PORT
from embedded_aws.eks.node_config import labels_of, taints_of
from embedded_aws.eks.node_joining import has_script, spec_of
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.node_resources import resources_of

_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}
_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
_UNKNOWN = (
    *("bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "machineID"),
    "osImage",
)
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def as_node(name: str) -> dict[str, str]:
    """Return the user and the group of a node's kubelet."""
    return {"user": f"system:node:{name}", "group": "system:nodes"}


def registered(machine: Machine) -> Row:
    """Return the node as its kubelet registers it."""
    spec = spec_of(machine.template, machine.ami_name)
    name = machine.instance.private_dns_name
    group = {} if machine.group["amiType"] == "CUSTOM" else machine.group
    return {
        "metadata": {
            "name": name,
            "labels": {
                **group.get("labels", {}),
                **labels_of(spec),
                "kubernetes.io/arch": _architecture(machine),
                "kubernetes.io/os": "linux",
                "kubernetes.io/hostname": name,
            },
        },
        "spec": {"taints": [*taints_of(spec), *taints_of_group(group)]},
    }


def status(machine: Machine, version: str, unready: str) -> Row:
    """Return the status of a node before any device plugin runs on it.

    Args:
        machine: what it runs on.
        version: of its cluster, which an AMI of the user's is taken to have.
        unready: why it takes no pods; empty if it does.
    """
    instance = machine.instance
    kubelet = machine.kubelet or machine.group.get("version", version)
    resources = resources_of(
        machine.record,
        machine.template,
        spec_of(machine.template, machine.ami_name),
        huge_pages=machine.huge_pages,
        reserves_by_type=has_script(machine.template, machine.ami_name),
    )
    addresses = {
        "InternalIP": instance.private_ip,
        "InternalDNS": instance.private_dns_name,
        "Hostname": instance.private_dns_name,
    }
    return {
        "capacity": dict(resources.capacity),
        "allocatable": dict(resources.allocatable),
        "conditions": conditions(unready),
        "addresses": [{"type": kind, "address": each} for kind, each in addresses.items()],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "nodeInfo": {
            # What only a machine that boots could say.
            **dict.fromkeys(_UNKNOWN, ""),
            "architecture": _architecture(machine),
            "kubeletVersion": f"v{kubelet}.0",
            "operatingSystem": "linux",
            "systemUUID": instance.id,
        },
    }


def labels_of_others(call: Call, machine: Machine) -> dict[str, str]:
    """Return the labels that the cloud's controller and EKS give a node."""
    instance, group = machine.instance, machine.group
    zone = instance.placement.zone
    named = zone_of(call.region, zone)
    ec2 = client("ec2", account=call.account, region=call.region)
    [place] = ec2.describe_instance_topology(InstanceIds=[instance.id])["Instances"]
    layers = {
        f"topology.k8s.aws/network-node-layer-{layer}": node
        for layer, node in enumerate(place.get("NetworkNodes", []), 1)
    }
    return {
        "node.kubernetes.io/instance-type": instance.instance_type,
        "topology.kubernetes.io/region": call.region,
        "topology.kubernetes.io/zone": zone,
        "topology.k8s.aws/zone-id": named[1] if named else "",
        **layers,
        "eks.amazonaws.com/nodegroup": group["nodegroupName"],
        "eks.amazonaws.com/nodegroup-image": instance.image_id,
        "eks.amazonaws.com/capacityType": group["capacityType"],
        **group.get("labels", {}),
    }


def taints_of_group(group: Mapping[str, Any]) -> list[Row]:
    """Return the taints of a node group as a node has them."""
    return [
        {"key": each["key"], "value": each.get("value", ""), "effect": _EFFECTS[each["effect"]]}
        for each in group.get("taints", [])
    ]


def conditions(unready: str) -> list[Row]:
    """Return the conditions of a node.

    Args:
        unready: why it takes no pods; empty if it does.
    """
    now = datetime.now(UTC).strftime(_TIME)
    ready, reason = ("False", "KubeletNotReady") if unready else ("True", "KubeletReady")
    given = (
        ("Ready", ready, reason, unready or "kubelet is posting ready status"),
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", ""),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", ""),
        ("PIDPressure", "False", "KubeletHasSufficientPID", ""),
    )
    return [
        {
            "type": kind,
            "status": holds,
            "reason": why,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for kind, holds, why, message in given
    ]


def _architecture(machine: Machine) -> str:
    return _ARCHITECTURES[machine.record["ProcessorInfo"]["SupportedArchitectures"][0]]
