"""Whether an instance of a launch template would join a cluster, judged by the template alone.

EKS user guide, "Customize managed nodes with launch templates": with security groups of its own, a
template must name the cluster security group, and with an AMI of its own, user data that join the
cluster: a NodeConfig with all of the cluster's block, or a call of Canonical's script, whichever
the AMI has. Amazon Linux 2023 has no such script, and Ubuntu no nodeadm. kubelet, `--node-labels`:
which labels of Kubernetes' own domains it takes. Inferred: interfaces without an address
(`efa-only`) need no group for it. Rules that the user adds between groups are not looked at.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.ec2.network_interfaces import kind_of
from embedded_aws.eks.bootstrap_script import SCRIPT, BadBootstrap, Bootstrap, bootstrap_of
from embedded_aws.eks.node_config import BadNodeConfig, block, labels_of, most_pods, node_config
from embedded_aws.plugins import find_by_name

# The names that Canonical and AWS publish.
_PROGRAMS = {r"ubuntu-eks/.+": "bootstrap.sh", r"amazon-eks-node-al2023-.+": "nodeadm"}
_KUBERNETES = re.compile(r"(^|\.)(kubernetes|k8s)\.io$")
_FOR_KUBELETS = re.compile(r"(^|\.)(kubelet|node)\.kubernetes\.io$")
_WELL = frozenset(
    (
        *("kubernetes.io/arch", "kubernetes.io/hostname", "kubernetes.io/os"),
        *("topology.kubernetes.io/region", "topology.kubernetes.io/zone"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAmi:
    """An AMI of the user's: EKS adds nothing to the user data of its nodes.

    Attributes:
        name: of the AMI.
        may_ask_eks: tells whether the node role may call eks:DescribeCluster.
    """

    name: str
    may_ask_eks: Callable[[], bool]


def why_not(cluster: Row, template: Mapping[str, Any], own_ami: OwnAmi | None) -> str | None:
    """Return why an instance would not join, or None.

    Args:
        cluster: the cluster.
        template: the data of the launch template that the instance is launched from.
        own_ami: its AMI; None for one of EKS's.
    """
    group = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    for interface in template.get("NetworkInterfaces", []):
        if kind_of(interface) != "efa-only" and group not in interface.get("Groups", []):
            card, device = interface.get("NetworkCardIndex", 0), interface.get("DeviceIndex", 0)
            return f"the interface {card}/{device} is not in the cluster security group {group}"
    if not template.get("NetworkInterfaces") and group not in template.get("SecurityGroupIds", []):
        return f"the security groups do not have the cluster security group {group}"
    if own_ami is None:
        return None
    if not has_script(template, own_ami.name):
        return _wrong_config(cluster, template)
    try:
        bootstrap = bootstrap_of(template)
    except BadBootstrap as error:
        return str(error)
    if bootstrap is None:
        return f"the user data do not call {SCRIPT}, by which nodes of the AMI {own_ami.name} join"
    return _wrong_bootstrap(cluster, bootstrap, own_ami)


def has_script(template: Mapping[str, Any], ami_name: str) -> bool:
    """Whether an AMI has Canonical's script, and not nodeadm.

    Nobody knows what is in an AMI of an unknown name: it has what its user data need.
    """
    known = [program for name, program in _PROGRAMS.items() if re.fullmatch(name, ami_name)]
    if program := find_by_name(ami_name, lambda plugin: plugin.joining_programs()):
        known.append(program)
    if known:
        return known[0] == "bootstrap.sh"
    try:
        return bootstrap_of(template) is not None
    except BadBootstrap:
        return True


def spec_of(template: Mapping[str, Any], ami_name: str) -> dict[str, Any]:
    """Return what the user data of a node that joined say of its kubelet.

    Args:
        template: the data of its launch template.
        ami_name: of its AMI.
    """
    bootstrap = bootstrap_of(template) if has_script(template, ami_name) else None
    return bootstrap.spec if bootstrap else node_config(template)


def _wrong_bootstrap(cluster: Row, bootstrap: Bootstrap, own_ami: OwnAmi) -> str | None:
    """Return why a call of Canonical's script does not lead to a node of the cluster, or None."""
    if wrong := bootstrap.wrong_for(cluster):
        return wrong
    if bootstrap.asks_eks and not own_ami.may_ask_eks():
        return (
            f"{SCRIPT} is not given both of --apiserver-endpoint and --b64-cluster-ca, and the "
            "node role is not allowed to perform eks:DescribeCluster"
        )
    return _wrong_label(bootstrap.spec)


def _wrong_config(cluster: Row, template: Mapping[str, Any]) -> str | None:
    """Return what of the user data's NodeConfig does not join the cluster, or None."""
    try:
        spec = node_config(template)
        # Of any type: what is wrong with the expression does not depend on it.
        most_pods(spec, interfaces=1, addresses=2)
    except BadNodeConfig as error:
        return str(error)
    given = block(spec, "cluster")
    wanted = {
        "name": cluster["name"],
        "apiServerEndpoint": cluster["endpoint"],
        "certificateAuthority": cluster["certificateAuthority"]["data"],
        "cidr": cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
    }
    for name, value in wanted.items():
        if given.get(name) != value:
            return f"spec.cluster.{name} of the NodeConfig is {given.get(name)!r}, not {value!r}"
    return _wrong_label(spec)


def _wrong_label(spec: Mapping[str, Any]) -> str | None:
    """Return which label keeps the kubelet from starting, or None."""
    for label in labels_of(spec):
        domain = label.rpartition("/")[0]
        if _KUBERNETES.search(domain) and not _FOR_KUBELETS.search(domain) and label not in _WELL:
            return f"the kubelet does not start with the label {label} in --node-labels"
    return None
