"""Scratch volumes of EBS, from a cluster file to the volumes of running nodes."""

import json
from collections.abc import Callable
from pathlib import Path

import job_bench

from embedded_aws.job_settings import JobSettings
from trainshed.plan import plan_fleet
from trainshed.spec import ClusterSpec


def test_each_node_has_its_volumes_and_they_go_with_it(
    publish_ami: Callable[..., str], synthesise: Callable[..., Path], tmp_path: Path
) -> None:
    spec = ClusterSpec.model_validate(
        {
            "name": "InfCluster",
            "region": "us-west-2",
            "orchestrator": "ec2",
            "instance": {
                "type": "inf2.48xlarge",
                "scratch": {"ebs": {"gib": 2000, "throughput": 4000}},
            },
        }
    )
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=60)) as aws:
        publish_ami(aws, "neuron/ec2")
        assembly = synthesise(plan_fleet([spec]))
        for name in ("InfPrerequisites", "InfNetwork", "InfCluster"):
            template = json.loads((assembly / f"{name}.template.json").read_text())
            aws.deploy(template, stack_name=name)
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
