"""User data of nodes of EKS on Ubuntu: a call of Canonical's script."""

import json
from ipaddress import IPv4Network

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks

from trainshed_constructs import add_bootstrap_script


@pytest.mark.parametrize(
    ("max_pods", "flags"),
    [
        pytest.param(None, "", id="the script's number"),
        pytest.param(688, " --max-pods=688", id="another"),
    ],
)
def test_it_counts_the_pods_unless_it_is_told(max_pods: int | None, flags: str) -> None:
    stack = Stack()
    network = eks.CfnCluster.ResourcesVpcConfigProperty(subnet_ids=["subnet-1"])
    cluster = eks.CfnCluster(
        stack, "Cluster", name="train", role_arn="arn", resources_vpc_config=network
    )
    user_data = ec2.MultipartUserData()

    add_bootstrap_script(
        user_data,
        cluster=cluster,
        service_cidr=IPv4Network("172.20.0.0/16"),
        labels={"a": "b"},
        taint="habana.ai/gaudi",
        max_pods=max_pods,
    )

    text = json.dumps(stack.resolve(user_data.render()))
    own = f"'--node-labels=a=b --register-with-taints=habana.ai/gaudi=present:NoSchedule{flags}'"
    assert "text/x-shellscript" in text
    assert f"--kubelet-extra-args {own}" in text
    assert "--dns-cluster-ip 172.20.0.10 --ip-family ipv4" in text
    assert ("--use-max-pods false" in text) == (max_pods is not None)
