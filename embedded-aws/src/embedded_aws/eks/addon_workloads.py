"""What an add-on runs in its cluster, and what of each node that takes.

Sources of names, requests and tolerations, of 2026-08: amazon-vpc-cni-k8s, charts/aws-vpc-cni;
eksctl, pkg/addons/default/assets/coredns-1.35.json; charts of eks-node-monitoring-agent,
eks-pod-identity-agent, aws-fsx-csi-driver; aws-ebs-csi-driver, deploy/kubernetes/base/node.yaml;
aws-observability/helm-charts, amazon-cloudwatch-observability. From memory: kube-proxy, whose
request EKS makes 100m; the agent for network policies beside aws-node; those of the other CSI
drivers, of metrics-server and of all controllers. Inferred: that CloudWatch's exporters run on all
types with such accelerators, which its chart lists by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

# Where a kubelet finds the plugin of the network; with an empty one, its node is not ready.
NETWORKS_FOLDER = "/etc/cni/net.d"


class Where(StrEnum):
    """On which nodes a DaemonSet runs."""

    EVERYWHERE = "everywhere"
    NVIDIA = "NVIDIA"
    NEURON = "Neuron"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a workload.

    Attributes:
        name: of the container.
        image: its repository.
        cpu: that it requests; empty for none.
        memory: that it requests; empty for none.
    """

    name: str
    image: str
    cpu: str = ""
    memory: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A DaemonSet or a Deployment of an add-on.

    Attributes:
        name: of the object.
        account: its service account.
        containers: of each pod.
        replicas: of a Deployment; 0 for a DaemonSet.
        host_network: its pods have the addresses of their node.
        where: on which nodes a DaemonSet runs.
        folders: of the node that its pods use.
        labels: of its pods, which its selector has, too.
    """

    name: str
    account: str
    containers: tuple[Container, ...]
    replicas: int = 0
    host_network: bool = False
    where: Where = Where.EVERYWHERE
    folders: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def _on_each_node(name: str, account: str, *containers: Container) -> Workload:
    return Workload(name=name, account=account, containers=containers, host_network=True)


def _exporter(name: str, image: str, cpu: str, where: Where) -> Workload:
    container = Container(name=name, image=image, cpu=cpu, memory="128Mi")
    return Workload(name=name, account=f"{name}-service-acct", containers=(container,), where=where)


def _deployment(name: str, replicas: int, container: Container) -> Workload:
    return Workload(name=name, account=name, containers=(container,), replicas=replicas)


def _csi(driver: str) -> tuple[Workload, Workload]:
    """Return what a CSI driver has on each node, and its controller."""

    def part(kind: str, replicas: int, *sidecars: str) -> Workload:
        names = (f"aws-{driver}-csi-driver", *sidecars)
        return Workload(
            name=f"{driver}-csi-{kind}",
            account=f"{driver}-csi-{kind}-sa",
            containers=tuple(
                Container(name=name, image=f"eks/{name}", cpu="10m", memory="40Mi")
                for name in names
            ),
            replicas=replicas,
        )

    return (
        part("node", 0, "csi-node-driver-registrar", "livenessprobe"),
        part("controller", 2, "csi-provisioner", "csi-resizer", "livenessprobe"),
    )


_VPC_CNI = Workload(
    name="aws-node",
    account="aws-node",
    containers=(
        Container(name="aws-node", image="amazon-k8s-cni", cpu="25m"),
        Container(name="aws-eks-nodeagent", image="amazon/aws-network-policy-agent", cpu="25m"),
    ),
    host_network=True,
    folders=("/opt/cni/bin", NETWORKS_FOLDER),
    labels={"k8s-app": "aws-node"},
)
_COREDNS = Workload(
    name="coredns",
    account="coredns",
    containers=(Container(name="coredns", image="eks/coredns", cpu="100m", memory="70Mi"),),
    replicas=2,
    labels={"k8s-app": "kube-dns"},
)
_CLOUDWATCH = (
    _on_each_node(
        "cloudwatch-agent",
        "cloudwatch-agent",
        Container(
            name="otc-container",
            image="cloudwatch-agent/cloudwatch-agent",
            cpu="250m",
            memory="128Mi",
        ),
    ),
    _on_each_node(
        "fluent-bit",
        "cloudwatch-agent",
        Container(
            name="fluent-bit",
            image="aws-observability/aws-for-fluent-bit",
            cpu="50m",
            memory="25Mi",
        ),
    ),
    _exporter("dcgm-exporter", "nvidia/dcgm-exporter", "250m", Where.NVIDIA),
    _exporter("neuron-monitor", "neuron/neuron-monitor", "256m", Where.NEURON),
    _deployment(
        "amazon-cloudwatch-observability-controller-manager",
        1,
        Container(
            name="manager",
            image="cloudwatch-agent/cloudwatch-agent-operator",
            cpu="100m",
            memory="64Mi",
        ),
    ),
)

# By the name of the add-on.
WORKLOADS: Mapping[str, tuple[Workload, ...]] = {
    "vpc-cni": (_VPC_CNI,),
    "kube-proxy": (
        _on_each_node(
            "kube-proxy",
            "kube-proxy",
            Container(name="kube-proxy", image="eks/kube-proxy", cpu="100m"),
        ),
    ),
    "coredns": (_COREDNS,),
    "eks-pod-identity-agent": (
        _on_each_node(
            "eks-pod-identity-agent",
            "default",
            Container(name="eks-pod-identity-agent", image="eks/eks-pod-identity-agent"),
        ),
    ),
    "eks-node-monitoring-agent": (
        _on_each_node(
            "eks-node-monitoring-agent",
            "eks-node-monitoring-agent",
            Container(
                name="eks-node-monitoring-agent",
                image="eks/eks-node-monitoring-agent",
                cpu="10m",
                memory="30Mi",
            ),
        ),
    ),
    "aws-ebs-csi-driver": _csi("ebs"),
    "aws-efs-csi-driver": _csi("efs"),
    "aws-fsx-csi-driver": _csi("fsx"),
    "aws-mountpoint-s3-csi-driver": _csi("s3")[:1],
    "amazon-cloudwatch-observability": _CLOUDWATCH,
    "metrics-server": (
        _deployment(
            "metrics-server",
            2,
            Container(
                name="metrics-server", image="eks/metrics-server", cpu="100m", memory="200Mi"
            ),
        ),
    ),
}
