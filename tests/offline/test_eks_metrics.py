"""Nodes of a deployed cluster of Amazon EKS send their metrics, with their own role."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import job_bench
import pytest
from command_bench import CommandBench, until
from deployed_jobs import deploy_stacks

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.metrics import CLUSTER, INSTANCE, NAMESPACE, sent_metrics
from trainshed.plan import load_fleet

pytestmark = pytest.mark.server

CLUSTER_FILE = """name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: p4d.24xlarge, nodes: {max: 2}}
"""


@pytest.fixture
def aws(
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
    tmp_path: Path,
) -> Iterator[EmbeddedAws]:
    file = tmp_path / "kube.yaml"
    file.write_text(CLUSTER_FILE)
    assembly = synthesise(load_fleet([file]))
    # Where a control plane takes a fraction of a second.
    with job_bench.job_aws(tmp_path, JobSettings(speed=3000, loopback=True)) as found:
        publish_ami(found, "nvidia/eks-1.35")
        deploy_stacks(found, assembly, "KubeNetwork", "KubeControlPlane", "KubeCluster")
        until(lambda: len(instances(found)) == 2, "readings of both nodes")
        yield found


def listed(aws: EmbeddedAws) -> list[dict[str, Any]]:
    """The metrics of the cluster."""
    pages = aws.client("cloudwatch").get_paginator("list_metrics").paginate(Namespace=NAMESPACE)
    return [each for page in pages for each in page["Metrics"]]


def instances(aws: EmbeddedAws) -> set[str]:
    """The nodes that send metrics."""
    return {
        dimension["Value"]
        for each in listed(aws)
        for dimension in each["Dimensions"]
        if dimension["Name"] == INSTANCE
    }


def test_nodes_send_what_nvidia_smi_tells(aws: EmbeddedAws) -> None:
    aws.let_pass(hours=0.1)

    def names(*dimensions: str) -> set[str]:
        return {
            each["MetricName"]
            for each in listed(aws)
            if {it["Name"] for it in each["Dimensions"]} == set(dimensions)
        }

    expected = {each.name for each in sent_metrics("nvidia", "eks-1.35", efa=True)}
    assert names(CLUSTER) == names(CLUSTER, INSTANCE) == expected
    assert "DCGM_FI_DEV_XID_ERRORS" not in expected


def test_alarms_go_off_by_what_nvidia_smi_tells(aws: EmbeddedAws) -> None:
    bench, [node, _] = CommandBench(aws), sorted(instances(aws))
    let_manage(aws, node)

    def alarms_after(minutes: int) -> set[str]:
        aws.let_pass(hours=minutes / 60)
        found = aws.client("cloudwatch").describe_alarms(StateValue="ALARM")["MetricAlarms"]
        return {each["AlarmName"].removeprefix("KubeCluster-") for each in found}

    def change(rule: str) -> None:
        file = "$EMBEDDED_AWS_NODE/run/exporters/trainshed-exporter"
        done = bench.wait(bench.send(f"sed -i '{rule}' {file}", [node]), node)
        assert done["Status"] == "Success", done

    well = alarms_after(30)
    change('s/^DCGM_FI_DEV_GPU_TEMP{gpu="0"} 0/DCGM_FI_DEV_GPU_TEMP{gpu="0"} 90/')
    early, hot = alarms_after(4), alarms_after(2)
    change('/gpu="0"/d')
    gone = alarms_after(16)

    assert (well, early, hot, gone) == (set(), set(), {"hot"}, {"lost-accelerator"})


def let_manage(aws: EmbeddedAws, node: str) -> None:
    """Let Systems Manager manage a node, which ours do not."""
    [found] = aws.client("ec2").describe_instances(InstanceIds=[node])["Reservations"]
    profile = found["Instances"][0]["IamInstanceProfile"]["Arn"].rpartition("/")[2]
    iam = aws.client("iam")
    [role] = iam.get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]["Roles"]
    iam.attach_role_policy(
        RoleName=role["RoleName"],
        PolicyArn="arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    )
