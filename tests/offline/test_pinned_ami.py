"""A cluster keeps the AMI that it was deployed with until its file says otherwise."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.deployment import Deployment, DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec

CHANNEL = "/trainshed/ami/neuron/ecs/stable"

Deploy = Callable[..., Deployment]
PublishAmi = Callable[..., str]


@pytest.fixture
def first(clean_aws: EmbeddedAws, publish_ami: PublishAmi) -> str:
    """The AMI that the channel holds at first."""
    return publish_ami(clean_aws)


@pytest.fixture
def deploy(clean_aws: EmbeddedAws, first: str, synthesise: Callable[[Fleet], Path]) -> Deploy:
    """Deploys a small cluster, its network and its images first, and returns the compute stack."""

    def run(ami: str = "stable", nodes: int = 2) -> Deployment:
        spec = ClusterSpec.model_validate(
            {
                "name": "TrainCluster",
                "region": "us-west-2",
                "instance": {"type": "trn1.32xlarge", "nodes": {"max": nodes}, "ami": ami},
            }
        )
        assembly = synthesise(plan_fleet([spec]))
        stacks = [
            clean_aws.deploy(
                json.loads((assembly / f"{name}.template.json").read_text()), stack_name=name
            )
            for name in ("TrainNetwork", "TrainContainers", "TrainCluster")
        ]
        return stacks[-1]

    return run


def compute_resources(aws: EmbeddedAws, cluster: Deployment) -> Mapping[str, Any]:
    arn = cluster.outputs["ComputeEnvironment"]
    answer = aws.client("batch").describe_compute_environments(computeEnvironments=[arn])
    found: dict[str, Any] = answer["computeEnvironments"][0]["computeResources"]
    return found


def ami(aws: EmbeddedAws, cluster: Deployment) -> str:
    [configuration] = compute_resources(aws, cluster)["ec2Configuration"]
    image_id: str = configuration["imageIdOverride"]
    return image_id


def events(aws: EmbeddedAws) -> str:
    found = aws.client("cloudformation").describe_stack_events(StackName="TrainCluster")
    return "\n".join(each.get("ResourceStatusReason", "") for each in found["StackEvents"])


def test_a_new_ami_reaches_a_cluster_when_its_file_names_it(
    clean_aws: EmbeddedAws, deploy: Deploy, first: str, publish_ami: PublishAmi
) -> None:
    before = deploy()
    newer = publish_ami(clean_aws)

    grown = deploy(nodes=4)
    kept = ami(clean_aws, grown)
    moved = deploy("stable:2", nodes=4)

    assert (kept, grown.outputs["AmiVersion"]) == (first, "1")
    assert compute_resources(clean_aws, grown)["maxvCpus"] == 4 * 128
    assert (ami(clean_aws, moved), moved.outputs["AmiVersion"]) == (newer, "2")
    assert moved.outputs["ComputeEnvironment"] == before.outputs["ComputeEnvironment"]


def test_a_rollback_comes_back_to_the_ami_that_was_there(
    clean_aws: EmbeddedAws, deploy: Deploy, first: str, publish_ami: PublishAmi
) -> None:
    deploy()
    publish_ami(clean_aws)

    with pytest.raises(DeploymentFailed):
        deploy("stable:9", nodes=4)

    publish_ami(clean_aws)
    after = deploy(nodes=4)
    assert "has no version 9 in us-west-2" in events(clean_aws)
    assert ami(clean_aws, after) == first


def test_a_version_that_was_pinned_is_not_read_again(
    clean_aws: EmbeddedAws, deploy: Deploy, first: str
) -> None:
    deploy("stable:1")
    clean_aws.client("ssm").delete_parameter(Name=CHANNEL)

    assert ami(clean_aws, deploy("stable:1", nodes=4)) == first


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("candidate", "there is no SSM parameter /trainshed/ami/neuron/ecs/candidate in us-west-2"),
        ("/ours/text", "SSM parameter /ours/text holds 'later', which is not an AMI id"),
    ],
)
def test_a_parameter_without_an_ami_fails_the_stack_with_the_reason(
    clean_aws: EmbeddedAws, deploy: Deploy, asked: str, reason: str
) -> None:
    clean_aws.client("ssm").put_parameter(Name="/ours/text", Value="later", Type="String")

    with pytest.raises(DeploymentFailed, match="Ami"):
        deploy(asked)

    assert reason in events(clean_aws)
    [stack] = clean_aws.client("cloudformation").describe_stacks(StackName="TrainCluster")["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"


def test_a_public_parameter_can_be_pinned(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
    value = clean_aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]

    assert ami(clean_aws, deploy(name)) == value
