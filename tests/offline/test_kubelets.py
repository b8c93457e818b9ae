"""The nodes of the embedded EKS have the kubelet of our AMI, whatever their cluster has."""

from collections.abc import Iterator

import pytest
from eks_bench import EksBench, until
from job_bench import job_aws
from kube_bench import asked, own_credentials, token
from node_bench import NodeBench

from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import unavailable
from trainshed.offline.stand_in import add_stand_in

pytestmark = pytest.mark.server


@pytest.fixture
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeBench]:
    if reason := unavailable():
        pytest.skip(reason)
    with job_aws(tmp_path_factory.mktemp("eks"), JobSettings(speed=3000), kubernetes=True) as aws:
        yield NodeBench(EksBench(aws))


def test_a_node_has_the_kubelet_of_the_cell_of_its_ami(nodes: NodeBench) -> None:
    aws, name = nodes.bench.aws, nodes.bench.name
    assert nodes.cluster["version"] != "1.34"
    template = nodes.template(
        ImageId=add_stand_in(aws.client, "neuron", "eks-1.34"),
        InstanceType="trn1.2xlarge",
        NetworkInterfaces=[{"DeviceIndex": 0, "Groups": [nodes.cluster_group]}],
        UserData=nodes.user_data(),
    )
    nodes.create(launchTemplate=template)
    bearer = token(aws, name, own_credentials(aws))

    def kubelets() -> list[str]:
        items = asked(nodes.cluster, bearer, "GET", "/api/v1/nodes")[1]["items"]
        return [each["status"].get("nodeInfo", {}).get("kubeletVersion", "") for each in items]

    until(lambda: any(kubelets()))
    assert kubelets() == ["v1.34.0"]
