"""Nodes of Ubuntu's AMIs for EKS join a cluster by /etc/eks/bootstrap.sh."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from amis import AMAZON_LINUX
from eks_bench import EksBench
from node_bench import NODE_POLICIES, NodeBench

UBUNTU = "ubuntu-eks/k8s_1.35/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260218"
AMAZON = "amazon-eks-node-al2023-x86_64-standard-1.35-v20260930"
OWNERS = {UBUNTU: "099720109477", AMAZON: "602401143452"}


@pytest.fixture
def nodes(bench: EksBench) -> NodeBench:
    return NodeBench(bench)


def named(nodes: NodeBench, name: str) -> str:
    """Return the id of a public AMI."""
    [image] = nodes.ec2.describe_images(
        Owners=[OWNERS[name]], Filters=[{"Name": "name", "Values": [name]}]
    )["Images"]
    image_id: str = image["ImageId"]
    return image_id


def group_of(nodes: NodeBench, user_data: str, *, ami: str = UBUNTU, **fields: Any) -> Any:
    """Create a node group and return it once it has settled."""
    template = nodes.template(
        ImageId=ami if ami == AMAZON_LINUX else named(nodes, ami),
        InstanceType="m5.large",
        UserData=user_data,
        SecurityGroupIds=[nodes.cluster_group],
    )
    return nodes.create(launchTemplate=template, **fields)


def why(group: Any) -> str:
    """Return why the nodes of a group did not join."""
    assert group["status"] == "CREATE_FAILED"
    [issue] = group["health"]["issues"]
    assert issue["code"] == "NodeCreationFailure"
    message: str = issue["message"]
    return message


def test_a_node_joins_that_is_told_all(nodes: NodeBench) -> None:
    group = group_of(nodes, nodes.script("--ip-family", "ipv4"))

    assert (group["status"], group["amiType"]) == ("ACTIVE", "CUSTOM")


def test_a_node_joins_by_a_part_of_its_user_data_with_variables(nodes: NodeBench) -> None:
    authority = nodes.cluster["certificateAuthority"]["data"]
    text = f"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
B64_CLUSTER_CA={authority}
export URL='{nodes.cluster["endpoint"]}'
sudo /etc/eks/bootstrap.sh {nodes.bench.name} \\
  --b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint "${{URL}}" --dns-cluster-ip 172.20.0.10
--B--
"""

    group = group_of(nodes, b64encode(text.encode()).decode())

    assert group["status"] == "ACTIVE"


def test_a_node_asks_eks_what_it_is_not_told(nodes: NodeBench) -> None:
    script = nodes.script(b64_cluster_ca=None, dns_cluster_ip=None)

    assert group_of(nodes, script)["status"] == "ACTIVE"


def test_a_node_whose_role_may_not_ask_eks_does_not_join(nodes: NodeBench) -> None:
    role = nodes.bench.role("ec2.amazonaws.com", NODE_POLICIES[1])

    group = group_of(nodes, nodes.script(b64_cluster_ca=None), nodeRole=role)

    assert "not allowed to perform eks:DescribeCluster" in why(group)


def test_what_the_script_does_not_know_is_passed_over_after_the_name(nodes: NodeBench) -> None:
    assert group_of(nodes, nodes.script("--cluster-cidr", "10.0.0.0/8"))["status"] == "ACTIVE"


Script = Callable[[NodeBench], str]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param(
            lambda nodes: nodes.script(name=f"--labels a=b {nodes.bench.name}"),
            "is called for the cluster '--labels'",
            id="an unknown option before the name",
        ),
        pytest.param(lambda nodes: nodes.script(name=""), "without the name", id="no name"),
        pytest.param(lambda nodes: nodes.script(name="other"), "the cluster 'other'", id="name"),
        pytest.param(
            lambda nodes: nodes.script(b64_cluster_ca="Q0E="),
            "--b64-cluster-ca of /etc/eks/bootstrap.sh is 'Q0E='",
            id="certificate",
        ),
        pytest.param(
            lambda nodes: nodes.script(b64_cluster_ca="no base64"), "is no base64", id="no base64"
        ),
        pytest.param(
            lambda nodes: nodes.script(apiserver_endpoint="https://localhost"),
            "--apiserver-endpoint",
            id="endpoint",
        ),
        pytest.param(
            lambda nodes: nodes.script(dns_cluster_ip="10.100.0.10"),
            "is '10.100.0.10', not '172.20.0.10'",
            id="dns",
        ),
        pytest.param(
            lambda nodes: nodes.script(dns_cluster_ip=None), "--dns-cluster-ip", id="guessed dns"
        ),
        pytest.param(
            lambda nodes: nodes.script("--container-runtime", "dockerd"),
            "Container runtime dockerd is not supported",
            id="runtime",
        ),
        pytest.param(lambda nodes: nodes.script(ip_family="ipv6"), "IPv6", id="ip family"),
        pytest.param(lambda nodes: nodes.script("--use-max-pods"), "--use-max-pods", id="no value"),
        pytest.param(lambda nodes: nodes.script("-h"), "prints its help", id="help"),
        pytest.param(
            lambda nodes: nodes.script(kubelet_extra_args="--node-labels=kubernetes.io/role=a"),
            "does not start with the label kubernetes.io/role",
            id="label",
        ),
        pytest.param(
            lambda nodes: nodes.user_data(), "do not call /etc/eks/bootstrap.sh", id="nodeadm's"
        ),
    ],
)
def test_a_wrong_call_does_not_join(nodes: NodeBench, script: Script, reason: str) -> None:
    assert reason in why(group_of(nodes, script(nodes)))


def test_amazon_linux_has_no_such_script(nodes: NodeBench) -> None:
    assert "of the NodeConfig is None" in why(group_of(nodes, nodes.script(), ami=AMAZON))
