"""Scratch volumes of EBS, from a cluster file to the volumes of running nodes."""

import json
from collections.abc import Callable
from pathlib import Path

import job_bench
import pytest
from deployed_jobs import deploy_stacks

from embedded_aws.job_settings import JobSettings
from trainshed.plan import plan_fleet
from trainshed.spec import ClusterSpec


def cluster(orchestrator: str) -> ClusterSpec:
    ebs = {"gib": 2000, "throughput": 4000}
    return ClusterSpec.model_validate(
        {
            "name": "InfCluster",
            "region": "us-west-2",
            "orchestrator": orchestrator,
            "instance": {"type": "inf2.48xlarge", "scratch": {"ebs": ebs}},
        }
    )


@pytest.mark.parametrize("orchestrator", ["batch", "ec2", "eks"])
def test_nodes_of_every_orchestrator_are_launched_with_them_and_told_of_them(
    synthesise: Callable[..., Path], orchestrator: str
) -> None:
    assembly = synthesise(plan_fleet([cluster(orchestrator)]))

    template = json.loads((assembly / "InfCluster.template.json").read_text())
    [data] = (
        each["Properties"]["LaunchTemplateData"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::EC2::LaunchTemplate"
    )
    devices = [each["DeviceName"] for each in data["BlockDeviceMappings"]]
    assert devices == ["/dev/xvda", "/dev/sdf", "/dev/sdg"]
    told = '\\"scratch_devices\\": [\\"/dev/sdf\\", \\"/dev/sdg\\"]'
    assert told in json.dumps(data["UserData"])


def test_each_node_has_its_volumes_and_they_go_with_it(
    publish_ami: Callable[..., str], synthesise: Callable[..., Path], tmp_path: Path
) -> None:
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=60)) as aws:
        publish_ami(aws, "neuron/ec2")
        assembly = synthesise(plan_fleet([cluster("ec2")]))
        deploy_stacks(aws, assembly, "InfPrerequisites", "InfNetwork", "InfCluster")
        ec2 = aws.client("ec2")

        volumes = ec2.describe_volumes()["Volumes"]

        told = sorted(
            (
                each["Attachments"][0]["Device"],
                each["VolumeType"],
                each["Size"],
                each.get("Iops"),
                each.get("Throughput"),
                each["Encrypted"],
            )
            for each in volumes
        )
        assert told[0][0] == "/dev/sdf"
        assert told[:2] == [
            (device, "gp3", 1000, 8000, 2000, True) for device in ("/dev/sdf", "/dev/sdg")
        ]
        aws.client("cloudformation").delete_stack(StackName="InfCluster")
        assert ec2.describe_volumes()["Volumes"] == []
