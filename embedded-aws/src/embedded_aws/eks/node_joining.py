"""Whether an instance of a launch template would join a cluster, judged by the template alone.

EKS user guide, "Customize managed nodes with launch templates": with security groups of its own, a
template must name the cluster security group, and with an AMI of its own, user data that join the
cluster: a NodeConfig with all of the cluster's block. kubelet, `--node-labels`: which labels of
Kubernetes' own domains it takes. Inferred: interfaces without an address (`efa-only`) need no group
for it. Rules that the user adds between groups are not looked at.
"""

import re
from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.ec2.network_interfaces import kind_of
from embedded_aws.eks.node_config import BadNodeConfig, block, labels_of, most_pods, node_config

_KUBERNETES = re.compile(r"(^|\.)(kubernetes|k8s)\.io$")
_FOR_KUBELETS = re.compile(r"(^|\.)(kubelet|node)\.kubernetes\.io$")
_WELL = frozenset(
    (
        *("kubernetes.io/arch", "kubernetes.io/hostname", "kubernetes.io/os"),
        *("topology.kubernetes.io/region", "topology.kubernetes.io/zone"),
    )
)


def why_not(cluster: Row, template: Mapping[str, Any], *, own_ami: bool) -> str | None:
    """Return why an instance would not join, or None.

    Args:
        cluster: the cluster.
        template: the data of the launch template that the instance is launched from.
        own_ami: the AMI is the user's, so that EKS adds nothing to its user data.
    """
    group = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    for interface in template.get("NetworkInterfaces", []):
        if kind_of(interface) != "efa-only" and group not in interface.get("Groups", []):
            card, device = interface.get("NetworkCardIndex", 0), interface.get("DeviceIndex", 0)
            return f"the interface {card}/{device} is not in the cluster security group {group}"
    if not template.get("NetworkInterfaces") and group not in template.get("SecurityGroupIds", []):
        return f"the security groups do not have the cluster security group {group}"
    return _wrong_config(cluster, template) if own_ami else None


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
    for label in labels_of(spec):
        domain = label.rpartition("/")[0]
        if _KUBERNETES.search(domain) and not _FOR_KUBELETS.search(domain) and label not in _WELL:
            return f"the kubelet does not start with the label {label} in --node-labels"
    return None
