"""Volumes that an instance is launched with: they are as asked, or refused, and go with it."""

from collections.abc import Callable
from typing import Any

import pytest


def scratch(device: str, **ebs: Any) -> dict[str, Any]:
    return {"DeviceName": device, "Ebs": {"DeleteOnTermination": True, **ebs}}


@pytest.fixture
def launch(subnet: str) -> dict[str, Any]:
    return {
        "ImageId": "ami-0123456789abcdef0",
        "InstanceType": "inf2.48xlarge",
        "MinCount": 1,
        "MaxCount": 1,
        "SubnetId": subnet,
    }


def test_volumes_of_a_template_are_there_and_go_with_the_instance(
    ec2: Any, name: str, launch: dict[str, Any]
) -> None:
    mappings = [
        scratch("/dev/xvda", VolumeType="gp3", VolumeSize=200, Encrypted=True),
        scratch("/dev/sdf", VolumeType="gp3", VolumeSize=500, Iops=7000, Throughput=1750),
        scratch("/dev/sdg", VolumeType="io2", VolumeSize=100, Iops=64000, Encrypted=True),
    ]
    ec2.create_launch_template(
        LaunchTemplateName=name, LaunchTemplateData={"BlockDeviceMappings": mappings}
    )

    launched = ec2.run_instances(**launch, LaunchTemplate={"LaunchTemplateName": name})
    instance_id = launched["Instances"][0]["InstanceId"]

    asked = [{"Name": "attachment.instance-id", "Values": [instance_id]}]
    volumes = ec2.describe_volumes(Filters=asked)["Volumes"]
    told = {
        each["Attachments"][0]["Device"]: [
            each.get(key) for key in ("VolumeType", "Size", "Iops", "Throughput", "Encrypted")
        ]
        for each in volumes
    }
    assert told["/dev/sdf"] == ["gp3", 500, 7000, 1750, False]
    assert told["/dev/sdg"] == ["io2", 100, 64000, None, True]
    ec2.terminate_instances(InstanceIds=[instance_id])
    ids = [{"Name": "volume-id", "Values": [each["VolumeId"] for each in volumes]}]
    assert ec2.describe_volumes(Filters=ids)["Volumes"] == []


@pytest.mark.parametrize(
    ("ebs", "code", "words"),
    [
        pytest.param(
            {"VolumeType": "gp3", "VolumeSize": 70000},
            "InvalidParameterValue",
            "Volume of 70000GiB is too large; maximum is 65536GiB.",
            id="gp3-size",
        ),
        pytest.param(
            {"VolumeType": "io2", "VolumeSize": 2, "Iops": 100},
            "InvalidParameterValue",
            "Volume of 2GiB is too small; minimum is 4GiB.",
            id="io2-size",
        ),
        pytest.param(
            {"VolumeType": "gp3", "VolumeSize": 500, "Iops": 90000},
            "InvalidParameterValue",
            "Volume iops of 90000 is too large; maximum is 80000.",
            id="gp3-iops",
        ),
        pytest.param(
            {"VolumeType": "gp3", "VolumeSize": 10, "Iops": 6000},
            "InvalidParameterValue",
            "Iops to volume size ratio of 600.000000 is too high; maximum is 500",
            id="gp3-ratio",
        ),
        pytest.param(
            {"VolumeType": "gp3", "VolumeSize": 500, "Iops": 10000, "Throughput": 2100},
            "InvalidParameterValue",
            "Volume throughput of 2100MiB/s is too large; maximum is 2000MiB/s.",
            id="throughput",
        ),
        pytest.param(
            {"VolumeType": "gp3", "VolumeSize": 500, "Throughput": 1000},
            "InvalidParameterValue",
            "Throughput (MiB/s) to iops ratio of 0.333333 is too high; maximum is 0.250000",
            id="throughput-ratio",
        ),
        pytest.param(
            {"VolumeType": "io2", "VolumeSize": 500, "Iops": 4000, "Throughput": 1000},
            "InvalidParameterCombination",
            "The parameter throughput is not supported for io2 volumes.",
            id="io2-throughput",
        ),
        pytest.param(
            {"VolumeType": "io2", "VolumeSize": 500},
            "MissingParameter",
            "The request must contain the parameter iops",
            id="io2-without-iops",
        ),
    ],
)
def test_volumes_that_ebs_does_not_make_are_refused(
    ec2: Any,
    launch: dict[str, Any],
    refusal: Callable[..., Any],
    ebs: dict[str, Any],
    code: str,
    words: str,
) -> None:
    refused = refusal(ec2.run_instances, **launch, BlockDeviceMappings=[scratch("/dev/sdf", **ebs)])

    assert refused.code == code
    assert words in refused.message


@pytest.mark.parametrize(
    "ebs",
    [
        {"VolumeType": "gp3", "VolumeSize": 1, "Iops": 3000},
        {"VolumeType": "gp3", "VolumeSize": 65536, "Iops": 80000, "Throughput": 2000},
        {"VolumeType": "io2", "VolumeSize": 256, "Iops": 256000},
    ],
    ids=["least", "most-gp3", "most-io2"],
)
def test_volumes_at_their_limits_are_made(
    ec2: Any, launch: dict[str, Any], ebs: dict[str, Any]
) -> None:
    launched = ec2.run_instances(**launch, BlockDeviceMappings=[scratch("/dev/sdf", **ebs)])

    assert launched["Instances"]
