"""A new account: no AMI, no image. What a deployment without them makes, and says."""

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.offline.stand_in import add_stand_in
from trainshed.plan import Fleet, load_fleet

ROOT = Path(__file__).parents[2]
CHANNEL = "/trainshed/ami/neuron/ecs/stable"
BUILD = "trainshed ami build neuron ecs --region us-west-2"
PUBLISH = "trainshed ami publish build/neuron-ecs/manifest.json --channel stable"
REMEDY = f"bake an AMI and publish it:\n  {BUILD}\n  {PUBLISH}"

PublishAmi = Callable[..., str]


@pytest.fixture(scope="module")
def assembly(synthesise: Callable[[Fleet], Path]) -> Path:
    return synthesise(load_fleet([ROOT / "clusters" / "train.yaml"]))


@pytest.fixture
def check(clean_aws: EmbeddedAws, assembly: Path) -> Callable[[], str]:
    """Deploys the prerequisites alone; returns why the AMI is not good, or nothing."""
    template = json.loads((assembly / "TrainPrerequisites.template.json").read_text())

    def run() -> str:
        try:
            clean_aws.deploy(template, stack_name="TrainPrerequisites")
        except DeploymentFailed:
            reported = reason(clean_aws, "TrainPrerequisites")
            # As the CDK CLI does before it tries again.
            clean_aws.client("cloudformation").delete_stack(StackName="TrainPrerequisites")
            return reported
        return ""

    return run


def reason(aws: EmbeddedAws, stack_name: str) -> str:
    """What the custom resource of a stack that failed has said last."""
    events = aws.client("cloudformation").describe_stack_events(StackName=stack_name)["StackEvents"]
    said = (each.get("ResourceStatusReason", "") for each in events)
    [last, *_] = [each for each in said if "Message returned" in each]
    # On lines of its own, so that it can be read and copied.
    found = re.search(r"Message returned: \n(.*)\n \(RequestId", last, re.DOTALL)
    assert found, last
    return found[1]


def stacks(aws: EmbeddedAws) -> dict[str, str]:
    described = aws.client("cloudformation").describe_stacks()["Stacks"]
    return {each["StackName"]: each["StackStatus"] for each in described}


def bake(aws: EmbeddedAws, folder: Path) -> None:
    """Leave what `trainshed ami build neuron ecs` leaves; the ladder runs it for real."""
    built = folder / "build" / "neuron-ecs"
    built.mkdir(parents=True)
    image_id = add_stand_in(aws.client, "neuron", "ecs")
    artifact = {"packer_run_uuid": "1", "artifact_id": f"us-west-2:{image_id}"}
    manifest = {"builds": [artifact], "last_run_uuid": "1"}
    (built / "manifest.json").write_text(json.dumps(manifest))


def test_the_readmes_steps_lead_from_nothing_to_a_cluster(
    clean_aws: EmbeddedAws, assembly: Path, push_image: Callable[..., str], tmp_path: Path
) -> None:
    with pytest.raises(DeploymentFailed, match="TrainPrerequisites") as failed:
        clean_aws.cdk_deploy(assembly, "TrainCluster")
    reported, made = reason(clean_aws, "TrainPrerequisites"), bills(clean_aws)
    left = stacks(clean_aws)
    bake(clean_aws, tmp_path)
    subprocess.run(PUBLISH.split(), cwd=tmp_path, env=clean_aws.environment, check=True)
    clean_aws.cdk_deploy(assembly, "TrainContainers")
    push_image(clean_aws, "train", "2.9.0-neuronx")  # tests/containers builds and pushes for real
    outputs = clean_aws.cdk_deploy(assembly, "TrainCluster")["TrainCluster"].outputs

    assert reported == f"there is no SSM parameter {CHANNEL} in us-west-2; {REMEDY}"
    assert left == {"CDKToolkit": "CREATE_COMPLETE", "TrainPrerequisites": "ROLLBACK_COMPLETE"}
    assert not made
    assert f"\n  {BUILD}\n  {PUBLISH}\n" in str(failed.value)
    # What the CDK CLI adds to failures where it can: nothing of it would help.
    assert "Could not fetch logs" not in str(failed.value)
    assert outputs["AmiVersion"] == "1"
    assert "image train:2.9.0-neuronx was there (sha256:" in outputs["ContainerImage"]
    assert {"nat gateways", "file systems"} <= set(bills(clean_aws))


def bills(aws: EmbeddedAws) -> Mapping[str, int]:
    """How many there are of what costs money while it exists, and of what they are in."""
    ec2 = aws.client("ec2")
    found: dict[str, list[Any]] = {
        "vpcs": ec2.describe_vpcs()["Vpcs"],
        "nat gateways": ec2.describe_nat_gateways()["NatGateways"],
        "addresses": ec2.describe_addresses()["Addresses"],
        "endpoints": ec2.describe_vpc_endpoints()["VpcEndpoints"],
        "instances": ec2.describe_instances()["Reservations"],
        "file systems": aws.client("fsx").describe_file_systems()["FileSystems"],
    }
    return {name: len(items) for name, items in found.items() if items}


def test_a_channel_whose_ami_is_gone_stops_the_deployment(
    clean_aws: EmbeddedAws, check: Callable[[], str], publish_ami: PublishAmi
) -> None:
    gone = publish_ami(clean_aws)
    clean_aws.client("ec2").deregister_image(ImageId=gone)

    first = check()
    publish_ami(clean_aws)

    ami = f"{gone} (SSM parameter {CHANNEL})"
    assert first == f"this account sees no AMI {ami} in us-west-2; {REMEDY}"
    assert not check()


def test_a_channel_with_an_ami_of_another_cell_stops_the_deployment(
    clean_aws: EmbeddedAws, check: Callable[[], str]
) -> None:
    other = add_stand_in(clean_aws.client, "nvidia", "ecs")
    clean_aws.client("ssm").put_parameter(
        Name=CHANNEL, Value=other, Type="String", DataType="aws:ec2:image"
    )

    ami = f"{other} (SSM parameter {CHANNEL})"
    assert check() == f"AMI {ami} is of nvidia/ecs, and the nodes need neuron/ecs; {REMEDY}"


def test_a_channel_with_an_ami_of_another_root_device_stops_the_deployment(
    clean_aws: EmbeddedAws, check: Callable[[], str]
) -> None:
    """Neuron's own image for Ubuntu: nodes would get a second volume, and a root as it is."""
    ssm = clean_aws.client("ssm")
    name = "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id"
    other = ssm.get_parameter(Name=name)["Parameter"]["Value"]
    ssm.put_parameter(Name=CHANNEL, Value=other, Type="String", DataType="aws:ec2:image")

    ami = f"{other} (SSM parameter {CHANNEL})"
    assert check() == f"AMI {ami} has root device /dev/sda1, and the nodes need /dev/xvda; {REMEDY}"


@pytest.mark.parametrize("ami", ["ami-0123456789abcdef0", "/ours/ami", "stable:7"])
def test_whatever_names_the_ami_is_checked_first(
    clean_aws: EmbeddedAws,
    synthesise: Callable[[Fleet], Path],
    publish_ami: PublishAmi,
    tmp_path: Path,
    ami: str,
) -> None:
    publish_ami(clean_aws)
    text = "name: TinyCluster\nregion: us-west-2\n"
    file = tmp_path / "tiny.yaml"
    file.write_text(f"{text}instance: {{type: trn1.32xlarge, ami: '{ami}'}}\n")
    template = synthesise(load_fleet([file])) / "TinyPrerequisites.template.json"

    with pytest.raises(DeploymentFailed):
        clean_aws.deploy(json.loads(template.read_text()), stack_name="TinyPrerequisites")

    reported = reason(clean_aws, "TinyPrerequisites")
    assert ami.replace("stable:7", "has no version 7") in reported
    assert BUILD in reported and PUBLISH in reported
