"""What a node of EKS on Ubuntu is told at boot by user data: a call of Canonical's script."""

import shlex
from collections.abc import Mapping
from ipaddress import IPv4Network

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks

from trainshed_constructs.kubernetes.node_group import TAINT_VALUE

_SCRIPT = "/etc/eks/bootstrap.sh"
# EKS user guide, "Manage CoreDNS for DNS in Amazon EKS clusters": this address of the range.
_DNS = 10


def add_bootstrap_script(
    user_data: ec2.MultipartUserData,
    *,
    cluster: eks.CfnCluster,
    service_cidr: IPv4Network,
    labels: Mapping[str, str],
    taint: str,
    max_pods: int | None,
) -> None:
    """Add the part that calls `/etc/eks/bootstrap.sh`.

    Canonical's AMIs for EKS have it in place of nodeadm, with the options of Amazon Linux 2's. It
    gets all that it would ask EKS for. The node registers with its taint: that of the node group
    comes later, when pods may be there already. What processes may lock is for containerd to say,
    in our AMIs.

    Args:
        user_data: what it is added to.
        cluster: that the node joins.
        service_cidr: its range of services.
        labels: of the node.
        taint: key of its taint.
        max_pods: how many pods the node takes; by default the script knows it by the type.
    """
    kubelet = [
        f"--node-labels={','.join(f'{key}={value}' for key, value in labels.items())}",
        f"--register-with-taints={taint}={TAINT_VALUE}:NoSchedule",
    ]
    counts = ""
    if max_pods is not None:
        kubelet.append(f"--max-pods={max_pods}")
        counts = " --use-max-pods false"
    script = ec2.UserData.for_linux()
    # One command: where it fails, cloud-init says so, and no kubelet starts.
    script.add_commands(
        f"{_SCRIPT} {cluster.name}"
        f" --apiserver-endpoint {cluster.attr_endpoint}"
        f" --b64-cluster-ca {cluster.attr_certificate_authority_data}"
        f" --dns-cluster-ip {service_cidr[_DNS]}"
        f" --ip-family ipv4{counts}"
        f" --kubelet-extra-args {shlex.quote(' '.join(kubelet))}"
    )
    user_data.add_part(ec2.MultipartBody.from_user_data(script))
