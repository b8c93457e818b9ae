"""The objects of an add-on in its cluster's API server.

What they run is `addon_workloads`'. EKS user guide, "Amazon EKS add-ons": EKS applies them by
server-side apply, as the field manager `eks`. The charts named there: DaemonSets tolerate every
taint, coredns' pods those of control planes alone. EKS Distro and nodeadm: the service kube-dns has
the tenth address of the service range. What does not run needs no rights, so roles of RBAC are left
out, and so are certificates, budgets for disruptions and custom resources.
"""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

import yaml
from moto.ec2.models.instance_types import INSTANCE_TYPES

from embedded_aws.actions import Row
from embedded_aws.eks.addon_workloads import NETWORKS_FOLDER, WORKLOADS, Where, Workload
from embedded_aws.plain_yaml import PlainLoader

# EKS user guide, "View Amazon container image registries for Amazon EKS add-ons": most regions'.
_ACCOUNT = "602401143452"
# Which address of the services' range is the DNS server's.
DNS_ADDRESS = 10
_KUBE_SYSTEM = "kube-system"
_NAME = "app.kubernetes.io/name"
_ALL_TAINTS: tuple[Row, ...] = ({"operator": "Exists"},)
_CRITICAL: tuple[Row, ...] = (
    {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
)
_IMAGES = frozenset(
    container.image
    for workloads in WORKLOADS.values()
    for workload in workloads
    for container in workload.containers
)


def objects_of(addon: Row, *, region: str, service_cidr: str) -> Iterator[Row]:
    """Yield the objects of an add-on, each after what it needs.

    Args:
        addon: as DescribeAddon has it.
        region: whose registry has its images.
        service_cidr: of the cluster.
    """
    namespace = addon["namespaceConfig"]["namespace"]
    if namespace != _KUBE_SYSTEM:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    workloads = WORKLOADS[addon["addonName"]]
    for account in dict.fromkeys(each.account for each in workloads):
        if account != "default":
            yield _object("v1", "ServiceAccount", account, namespace)
    if addon["addonName"] == "coredns":
        yield _dns_service(service_cidr)
    registry = f"{_ACCOUNT}.dkr.ecr.{region}.amazonaws.com"
    for workload in workloads:
        yield _of_workload(workload, addon, registry)


def is_of_an_addon(pod: Mapping[str, Any]) -> bool:
    """Whether a pod runs the images of an add-on, as its `spec` has them."""
    images = (each["image"].partition("amazonaws.com/")[2] for each in pod["containers"])
    return all(image.rpartition(":")[0] in _IMAGES for image in images)


def brings_the_network(pod: Mapping[str, Any]) -> bool:
    """Whether a pod may write the node's configuration of pod networks, as its `spec` says."""
    folders = [each.get("hostPath", {}).get("path", "") for each in pod.get("volumes", [])]
    return NETWORKS_FOLDER in [folder.rstrip("/") for folder in folders]


def _environment(addon: Row) -> Mapping[str, str]:
    """Return the variables that configuration values set: of the VPC CNI alone they have any."""
    if addon["addonName"] != "vpc-cni":
        return {}
    values = yaml.load(addon.get("configurationValues") or "{}", Loader=PlainLoader)
    found = values.get("env")
    return {name: str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _of_workload(workload: Workload, addon: Row, registry: str) -> Row:
    environment = [{"name": name, "value": value} for name, value in _environment(addon).items()]
    labels = {_NAME: workload.name, **workload.labels}
    containers = []
    for each in workload.containers:
        requests = {"cpu": each.cpu, "memory": each.memory}
        given = {name: amount for name, amount in requests.items() if amount}
        containers.append(
            {
                "name": each.name,
                "image": f"{registry}/{each.image}:{addon['addonVersion']}",
                "env": environment,
                "resources": {"requests": given},
            }
        )
    critical = "system-cluster-critical" if workload.replicas else "system-node-critical"
    pod: Row = {
        "serviceAccountName": workload.account,
        "priorityClassName": critical,
        "hostNetwork": workload.host_network,
        "tolerations": list(_CRITICAL if workload.replicas else _ALL_TAINTS),
        "containers": containers,
        "volumes": [
            {
                "name": path.strip("/").replace("/", "-").replace(".", "-"),
                "hostPath": {"path": path},
            }
            for path in workload.folders
        ],
    }
    if workload.where is not Where.EVERYWHERE:
        pod["affinity"] = _on_types_of(workload.where)
    spec: Row = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    if workload.replicas:
        spec["replicas"] = workload.replicas
    kind = "Deployment" if workload.replicas else "DaemonSet"
    named = _object("apps/v1", kind, workload.name, addon["namespaceConfig"]["namespace"])
    return {**named, "spec": spec}


def _on_types_of(maker: Where) -> Row:
    """Return the affinity to nodes of the instance types that have a maker's accelerators."""
    types = [name for name, record in INSTANCE_TYPES.items() if maker in _makers(record)]
    label = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": sorted(types)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [label]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _makers(record: Mapping[str, Any]) -> set[str]:
    found = {each["Manufacturer"] for each in record.get("GpuInfo", {}).get("Gpus", [])}
    return found | ({Where.NEURON.value} if "NeuronInfo" in record else set())


def _dns_service(service_cidr: str) -> Row:
    ports = [
        {"name": name, "port": port, "targetPort": port, "protocol": protocol}
        for name, port, protocol in (
            ("dns", 53, "UDP"),
            ("dns-tcp", 53, "TCP"),
            ("metrics", 9153, "TCP"),
        )
    ]
    spec = {
        "clusterIP": str(IPv4Network(service_cidr)[DNS_ADDRESS]),
        "selector": {"k8s-app": "kube-dns"},
        "ports": ports,
    }
    return {**_object("v1", "Service", "kube-dns", _KUBE_SYSTEM), "spec": spec}


def _object(version: str, kind: str, name: str, namespace: str) -> Row:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}
