"""The control plane of a cluster of Kubernetes: its version, its ranges, who may use it."""

from dataclasses import dataclass
from ipaddress import IPv4Network

from trainshed.catalogue.kubernetes import KubernetesVersion
from trainshed.plan.kube_lock import KubeLock

# Add-ons of EKS that every control plane has: what nodes need to join, and what needs nodes.
# Without nodes coredns stays degraded, and the stack waits for it (terraform-aws-eks,
# `before_compute`).
ADD_ONS_BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
ADD_ONS_AFTER_NODES = ("coredns", "eks-node-monitoring-agent")
POD_LOGS_ADD_ON = "amazon-cloudwatch-observability"
ADD_ONS = (*ADD_ONS_BEFORE_NODES, *ADD_ONS_AFTER_NODES, POD_LOGS_ADD_ON)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEntry:
    """An IAM role that may use a control plane.

    Attributes:
        role: its name, in the cluster's account, or its ARN.
        policy: the access policy of EKS, for instance `AmazonEKSEditPolicy`.
        namespace: the only one that it holds for, or None for all.
        group: of Kubernetes, to which RBAC gives what access policies cannot.
    """

    role: str
    policy: str
    namespace: str | None
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlanePlan:
    """A control plane of Amazon EKS, which clusters share by its name.

    Attributes:
        name: of the EKS cluster.
        stack_name: stack that owns it.
        network: name of the network that it is in.
        version: of Kubernetes.
        service_cidr: address range of the services in it.
        public_cidrs: from where its API server is reached over the internet; empty for nowhere.
        access: who may use it.
        subnet_id: of an existing VPC, the subnet in another zone; None in a new one.
        lock: versions of add-ons and charts; None where nobody has locked them.
    """

    name: str
    stack_name: str
    network: str
    version: KubernetesVersion
    service_cidr: IPv4Network
    public_cidrs: tuple[IPv4Network, ...]
    access: tuple[AccessEntry, ...]
    subnet_id: str | None
    lock: KubeLock | None = None
