"""What a node of EKS is told at boot by user data: nodeadm's configuration."""

import json
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks

from trainshed_constructs.kubernetes.node_group import TAINT_VALUE

# A process may lock all memory, which EFA's and the accelerators' drivers need: RLIM_INFINITY.
_UNLIMITED = 2**64 - 1


def add_node_config(
    user_data: ec2.MultipartUserData,
    *,
    cluster: eks.CfnCluster,
    service_cidr: IPv4Network,
    labels: Mapping[str, str],
    taint: str,
    max_pods_expression: str | None,
) -> None:
    """Add the part that nodeadm reads.

    EKS merges nothing into the user data of a template that names an AMI, so it has the whole
    configuration. The node registers with its taints: those of the node group come later, when pods
    may be there already. Follows the documentation of nodeadm (github.com/awslabs/amazon-eks-ami).

    Args:
        user_data: what it is added to.
        cluster: that the node joins.
        service_cidr: its range of services.
        labels: of the node.
        taint: key of its taint.
        max_pods_expression: how many pods the node takes; by default nodeadm counts them.
    """
    flags = [
        f"--node-labels={','.join(f'{key}={value}' for key, value in labels.items())}",
        f"--register-with-taints={taint}={TAINT_VALUE}:NoSchedule",
    ]
    kubelet: dict[str, Any] = {"flags": flags}
    if max_pods_expression:
        kubelet["maxPodsExpression"] = max_pods_expression
    limit = {"type": "RLIMIT_MEMLOCK", "soft": _UNLIMITED, "hard": _UNLIMITED}
    config = {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {
            "cluster": {
                "name": cluster.name,
                "apiServerEndpoint": cluster.attr_endpoint,
                "certificateAuthority": cluster.attr_certificate_authority_data,
                "cidr": str(service_cidr),
            },
            "kubelet": kubelet,
            "containerd": {"baseRuntimeSpec": {"process": {"rlimits": [limit]}}},
        },
    }
    # JSON is YAML, too.
    user_data.add_part(
        ec2.MultipartBody.from_raw_body(
            content_type="application/node.eks.aws", body=json.dumps(config, indent=1)
        )
    )
