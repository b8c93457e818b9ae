"""Whether an instance of a launch template would join a cluster, judged by the template alone.

EKS user guide, "Customize managed nodes with launch templates": with security groups of its own, a
template must name the cluster security group, and with an AMI of its own, user data that join the
cluster. amazon-eks-ami, nodeadm: a NodeConfig in parts of the type application/node.eks.aws, of
which later ones win, with all of the cluster's block. Inferred: interfaces without an address
(`efa-only`) need no group for it. Rules that the user adds between groups are not looked at.
"""

from base64 import b64decode
from collections.abc import Mapping
from email import message_from_bytes
from typing import Any

import yaml

from embedded_aws.actions import Row
from embedded_aws.ec2.network_interfaces import kind_of
from embedded_aws.plain_yaml import PlainLoader

_NODE_CONFIG = "application/node.eks.aws"


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
    given: dict[str, Any] = {}
    for part in message_from_bytes(b64decode(str(template.get("UserData", "")))).walk():
        if part.get_content_type() == _NODE_CONFIG:
            try:
                config = yaml.load(part.get_payload(decode=True) or b"", Loader=PlainLoader)
            except yaml.YAMLError as error:
                return f"the NodeConfig in the user data is no YAML: {error}"
            given |= _cluster_block(config)
    wanted = {
        "name": cluster["name"],
        "apiServerEndpoint": cluster["endpoint"],
        "certificateAuthority": cluster["certificateAuthority"]["data"],
        "cidr": cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
    }
    for name, value in wanted.items():
        if given.get(name) != value:
            return f"spec.cluster.{name} of the NodeConfig is {given.get(name)!r}, not {value!r}"
    return None


def _cluster_block(config: Any) -> dict[str, Any]:
    for name in ("spec", "cluster"):
        config = config.get(name) if isinstance(config, dict) else None
    return config if isinstance(config, dict) else {}
