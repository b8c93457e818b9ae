"""What the nodes of a cluster have by Kubernetes, and what was planned of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lightkube import Client
from lightkube.resources.core_v1 import Node as NodeResource
from lightkube.utils.quantity import parse_quantity

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster

_PODS = "pods"
_SMALLER = "a pod of a job does not fit; the AMI reserves more than it should"
_TYPE_LABEL = "node.kubernetes.io/instance-type"
# The name differs between accounts, the ID does not. The second is a label of AWS's alone.
_ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.k8s.aws/zone-id")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesPlan:
    """What is planned of the nodes of a cluster.

    Attributes:
        cluster: its name, as in the label of its nodes.
        count: how many there are.
        zone: ID or name of their zone.
        kubernetes: minor version of Kubernetes that their kubelet has, for instance `1.35`.
        devices: what device plugins announce on each: exactly so many, by resource.
        sizes: what a pod of a job asks for beside devices, and no node may have less of: quantities
            of Kubernetes by resource.
        max_pods: the types that their instances may have, and how many pods the kubelet of each
            takes: exactly so many.
        taint: key of their taint.
    """

    cluster: str
    count: int
    zone: str
    kubernetes: str
    devices: Mapping[str, str]
    sizes: Mapping[str, str]
    max_pods: Mapping[str, int]
    taint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesNode:
    """A node as Kubernetes has it.

    Attributes:
        name: of the node.
        instance_type: of its instance; empty when it does not say.
        zones: name and ID of its zone, as far as it says them.
        kubernetes: version of its kubelet, for instance `v1.35.4-eks-40737a8`.
        ready: its kubelet says that it takes pods.
        capacity: what it has, by resource.
        allocatable: what of it pods may ask for.
        taints: keys of its taints.
        instance_id: of its instance; empty when it does not say.
        cordoned: pods are not placed there.
    """

    name: str
    instance_type: str
    zones: tuple[str, ...]
    kubernetes: str
    ready: bool
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    taints: tuple[str, ...]
    instance_id: str
    cordoned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDifference:
    """Something that is not as planned.

    Attributes:
        node: its name, or None for all of them.
        what: for instance a resource.
        planned: what the plan says.
        found: what Kubernetes says.
        advice: what to do.
    """

    node: str | None
    what: str
    planned: str
    found: str
    advice: str


def find_nodes(client: Client, cluster: EksCluster, name: str) -> tuple[KubernetesNode, ...]:
    """Return the nodes of a cluster, by their names.

    Args:
        client: of its API server.
        cluster: as EKS has it.
        name: of the cluster, as in the label of its nodes.

    Raises:
        ApiRefusal: the API server refuses.
        Unreachable: it does not answer.
    """
    with asking(cluster):
        found = [*client.list(NodeResource, labels={CLUSTER_LABEL: name})]
    return tuple(sorted(map(_node, found), key=lambda each: each.name))


def differences(plan: NodesPlan, nodes: tuple[KubernetesNode, ...]) -> Iterator[NodeDifference]:
    """Yield what is not as planned: of all nodes first, then of each."""
    if len(nodes) != plan.count:
        yield NodeDifference(
            node=None,
            what="nodes",
            planned=str(plan.count),
            found=str(len(nodes)),
            advice="see the size and the health of the node group in EKS",
        )
    for node in nodes:
        yield from _of_node(plan, node)


def lacking(
    requests: Mapping[str, str], nodes: tuple[KubernetesNode, ...]
) -> Iterator[NodeDifference]:
    """Yield of which resource a node has less than a pod asks for, whatever runs there.

    Args:
        requests: of the pod, by resource.
        nodes: where it may be.
    """
    for node in nodes:
        for resource, asked in requests.items():
            if _amount(found := node.allocatable.get(resource, "0")) < _amount(asked):
                yield NodeDifference(
                    node=node.name,
                    what=resource,
                    planned=asked,
                    found=found,
                    # The names of devices begin with the domain of their vendor.
                    advice=_device_advice(resource, node) if "/" in resource else _SMALLER,
                )


def _of_node(plan: NodesPlan, node: KubernetesNode) -> Iterator[NodeDifference]:
    def differs(what: str, planned: str, found: str, advice: str) -> NodeDifference:
        return NodeDifference(
            node=node.name, what=what, planned=planned, found=found, advice=advice
        )

    if node.instance_type not in plan.max_pods:
        yield differs(
            "instance type",
            " or ".join(plan.max_pods),
            node.instance_type or "not known",
            "deploy the cluster's stack: it replaces the nodes",
        )
    if node.zones and plan.zone not in node.zones and _comparable(plan.zone, node.zones):
        yield differs(
            "zone", plan.zone, ", ".join(node.zones), "check instance.zone of the cluster file"
        )
    if not f"{node.kubernetes}.".startswith(f"v{plan.kubernetes}."):
        yield differs(
            "Kubernetes",
            plan.kubernetes,
            node.kubernetes or "not known",
            f"give the cluster an AMI of eks-{plan.kubernetes}, and deploy its stack",
        )
    if not node.ready:
        yield differs("ready", "yes", "no", f"see: kubectl describe node {node.name}")
    if plan.taint not in node.taints:
        yield differs(
            "taint",
            plan.taint,
            ", ".join(node.taints) or "none",
            "pods that need no accelerator may take the node; its AMI must be one of ours",
        )
    for resource, planned in plan.devices.items():
        if _amount(found := node.allocatable.get(resource, "0")) != _amount(planned):
            yield differs(resource, planned, found, _device_advice(resource, node))
    for resource, planned in plan.sizes.items():
        if _amount(found := node.allocatable.get(resource, "0")) < _amount(planned):
            yield differs(
                resource,
                f"at least {planned}",
                found,
                _SMALLER,
            )
    most = plan.max_pods.get(node.instance_type)
    if most is not None and _amount(found := node.capacity.get(_PODS, "0")) != most:
        yield differs(_PODS, str(most), found, _max_pods_advice(most, _amount(found)))


def _device_advice(resource: str, node: KubernetesNode) -> str:
    if not _amount(node.capacity.get(resource, "0")):
        return "its device plugin does not run there: trainshed kube apply"
    return (
        "the device plugin leaves out what does not work: see its log, and replace the node if a "
        "device is broken"
    )


def _max_pods_advice(most: int, found: float) -> str:
    meaning = (
        "pods beyond the addresses of the node hang in ContainerCreating"
        if found > most
        else "the node takes fewer pods than it has addresses for"
    )
    return f"{meaning}; deploy the cluster's stack, and use an AMI that leaves maxPods alone"


def _comparable(planned: str, found: tuple[str, ...]) -> bool:
    """Return whether names stand beside a name, or an ID beside an ID: `-az` is in an ID alone."""
    return any(("-az" in planned) == ("-az" in each) for each in found)


def _node(found: NodeResource) -> KubernetesNode:
    metadata, spec, status = found.metadata, found.spec, found.status
    labels = (metadata and metadata.labels) or {}
    conditions = (status and status.conditions) or []
    return KubernetesNode(
        name=(metadata and metadata.name) or "",
        instance_type=labels.get(_TYPE_LABEL, ""),
        zones=tuple(labels[each] for each in _ZONE_LABELS if each in labels),
        kubernetes=status.nodeInfo.kubeletVersion if status and status.nodeInfo else "",
        ready=any(each.type == "Ready" and each.status == "True" for each in conditions),
        capacity=dict((status and status.capacity) or {}),
        allocatable=dict((status and status.allocatable) or {}),
        taints=tuple(each.key for each in (spec and spec.taints) or []),
        # As the cloud provider of AWS writes it: aws:///ZONE/INSTANCE.
        instance_id=((spec and spec.providerID) or "").rpartition("/")[2],
        cordoned=bool(spec and spec.unschedulable),
    )


def _amount(quantity: str) -> float:
    return float(parse_quantity(quantity) or 0)
