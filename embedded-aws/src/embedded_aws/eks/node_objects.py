"""A node as its kubelet registers it, and what others then add.

Kubernetes, "Well-Known Labels": those of kubelets and of the cloud's controller. EKS user guide,
"Simplify node lifecycle with managed node groups": labels and taints of node groups; with an AMI of
the user's they come after the node, since EKS adds nothing to its user data. Documented for
HyperPod, from memory for EKS: labels of the place in the network.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.instance_types import require
from embedded_aws.ec2.network_interfaces import kind_of
from embedded_aws.ec2.zones import zone_of
from embedded_aws.eks.node_config import labels_of, node_config, taints_of
from embedded_aws.eks.node_resources import resources_of
from embedded_aws.plugins import find_for_ami

_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}
_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def registered(instance: Any, group: Row, template: Mapping[str, Any]) -> Row:
    """Return the node as its kubelet registers it.

    Args:
        instance: moto's.
        group: its node group.
        template: data of the launch template that it was launched from.
    """
    spec, name = node_config(template), instance.private_dns_name
    own_ami = group["amiType"] == "CUSTOM"
    architecture = require(instance.instance_type)["ProcessorInfo"]["SupportedArchitectures"][0]
    return {
        "metadata": {
            "name": name,
            "labels": {
                **({} if own_ami else group.get("labels", {})),
                **labels_of(spec),
                "kubernetes.io/arch": _ARCHITECTURES[architecture],
                "kubernetes.io/os": "linux",
                "kubernetes.io/hostname": name,
            },
        },
        "spec": {"taints": [*taints_of(spec), *([] if own_ami else taints_of_group(group))]},
    }


def status(cluster: Row, instance: Any, group: Row, template: Mapping[str, Any]) -> Row:
    """Return the status of a node that is ready, before any device plugin runs on it.

    Args:
        cluster: its cluster.
        instance: moto's.
        group: its node group.
        template: data of the launch template that it was launched from.
    """
    resources = resources_of(
        require(instance.instance_type),
        template,
        node_config(template),
        huge_pages=_huge_pages(instance, template),
    )
    # Inferred of an AMI of the user's, which does not say.
    version = group.get("version", cluster["version"])
    architecture = require(instance.instance_type)["ProcessorInfo"]["SupportedArchitectures"][0]
    addresses = {
        "InternalIP": instance.private_ip,
        "InternalDNS": instance.private_dns_name,
        "Hostname": instance.private_dns_name,
    }
    return {
        "capacity": dict(resources.capacity),
        "allocatable": dict(resources.allocatable),
        "conditions": list(_conditions()),
        "addresses": [{"type": kind, "address": each} for kind, each in addresses.items()],
        "nodeInfo": {
            **dict.fromkeys(("bootID", "machineID", "kernelVersion", "kubeProxyVersion"), ""),
            "architecture": _ARCHITECTURES[architecture],
            "containerRuntimeVersion": "containerd://2",
            "kubeletVersion": f"v{version}.0",
            "operatingSystem": "linux",
            "osImage": "",
            "systemUUID": instance.id,
        },
    }


def labels_of_others(call: Call, instance: Any, group: Row) -> dict[str, str]:
    """Return the labels that the cloud's controller and EKS give a node."""
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


def taints_of_group(group: Row) -> list[Row]:
    """Return the taints of a node group as a node has them."""
    return [
        {"key": each["key"], "value": each.get("value", ""), "effect": _EFFECTS[each["effect"]]}
        for each in group.get("taints", [])
    ]


def _conditions() -> Iterator[Row]:
    now = datetime.now(UTC).strftime(_TIME)
    for kind, holds, reason in (
        ("Ready", "True", "KubeletReady"),
        ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ):
        yield {
            "type": kind,
            "status": holds,
            "reason": reason,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }


def _huge_pages(instance: Any, template: Mapping[str, Any]) -> int:
    """Return how many huge pages the AMI reserves for the devices that it finds."""
    by_device = find_for_ami(instance, lambda plugin: plugin.huge_pages()) or {}
    record = require(instance.instance_type)
    devices = {gpu["Manufacturer"].lower() for gpu in record.get("GpuInfo", {}).get("Gpus", [])}
    if any(kind_of(each).startswith("efa") for each in template.get("NetworkInterfaces", [])):
        devices.add("efa")
    return max((pages for device, pages in by_device.items() if device in devices), default=0)
