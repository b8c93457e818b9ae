"""`trainshed offline image`: what it refuses, and why.

That jobs start with it, tests/rehearse shows.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws

ECR = "123456789012.dkr.ecr.us-west-2.amazonaws.com"
DIGEST = f"{ECR}/train@sha256:{'0' * 64}"
ELSEWHERE = f"{ECR.replace('us-west-2', 'eu-west-1')}/train:v1"
Image = Callable[[], Answer]


@pytest.fixture
def image(
    clean_aws: EmbeddedAws,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Image:
    """The command, in a project with one cluster that is not deployed."""
    (tmp_path / "train.yaml").write_text(
        "name: Train\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
    )
    monkeypatch.chdir(tmp_path)
    clean_aws.lead_here(monkeypatch)
    # It is the cluster's region that counts.
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return lambda: trainshed("offline", "image", "Train", "--clusters", "train.yaml")


def deploy(aws: EmbeddedAws, image: str) -> None:
    """Deploy what of a cluster's stack the command reads."""
    container = {"Image": image, "Vcpus": 1, "Memory": 128}
    definition = {
        "Type": "AWS::Batch::JobDefinition",
        "Properties": {
            "Type": "multinode",
            "NodeProperties": {
                "MainNode": 0,
                "NumNodes": 2,
                "NodeRangeProperties": [{"TargetNodes": "0:", "Container": container}],
            },
        },
    }
    _deploy(aws, definition, JobQueue="queue", JobDefinition={"Ref": "Made"})


def _deploy(aws: EmbeddedAws, resource: dict[str, Any], **outputs: Any) -> None:
    template = {
        "Resources": {"Made": resource},
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }
    aws.deploy(template, stack_name="Train")


def test_an_image_that_is_there_stays(
    image: Image, clean_aws: EmbeddedAws, push_image: Callable[..., str]
) -> None:
    clean_aws.client("ecr").create_repository(repositoryName="train")
    digest = push_image(clean_aws, "train", "v1")
    deploy(clean_aws, f"{ECR}/train:v1")

    answer = image()

    listed = clean_aws.client("ecr").list_images(repositoryName="train")["imageIds"]
    assert answer.out == f"{ECR}/train:v1\n"
    assert "ContainerImage says what ECR had before" in answer.err
    assert listed == [{"imageDigest": digest, "imageTag": "v1"}]


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        pytest.param(
            f"{ECR}/train:v1",
            "there is no repository train in us-west-2; create it: aws ecr create-repository "
            "--repository-name train",
            id="no-repository",
        ),
        pytest.param(
            "registry.example/train:v1",
            "Train needs no stand-in: its image registry.example/train:v1 is not of this "
            "account's ECR, and the embedded AWS takes it as present",
            id="other-registry",
        ),
        pytest.param(
            f"210987654321{ECR[12:]}/train:v1",
            f"Train needs no stand-in: its image 210987654321{ECR[12:]}/train:v1 is not of this "
            "account's ECR, and the embedded AWS takes it as present",
            id="other-account",
        ),
        pytest.param(
            DIGEST,
            f"nothing can stand for {DIGEST}: only one image has this digest; name an image.tag "
            "for use on the embedded AWS, or build and push the image there",
            id="digest",
        ),
        pytest.param(
            ELSEWHERE,
            f"{ELSEWHERE} is of the region eu-west-1, and its cluster is in us-west-2; name an "
            "image of the cluster's region for use on the embedded AWS",
            id="other-region",
        ),
    ],
)
def test_an_image_without_a_stand_in_is_said(
    image: Image, clean_aws: EmbeddedAws, uri: str, message: str
) -> None:
    deploy(clean_aws, uri)

    answer = image()

    assert (answer.code == 0, answer.out) == (False, "")
    assert answer.err == f"error: {message}\n"


def test_a_cluster_without_containers_is_said(image: Image, clean_aws: EmbeddedAws) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    _deploy(clean_aws, topic, JobDocument="Document", NodeGroup="Group", LogGroup="Log")

    assert image().err == (
        "error: Train needs no container image: its jobs run on the nodes themselves, as "
        "orchestrator is ec2\n"
    )


def test_a_cluster_that_is_not_deployed_is_said(image: Image) -> None:
    assert image().err == (
        "error: Train is not deployed in us-west-2; deploy it: npx cdk deploy Train\n"
    )


def test_no_other_aws_is_written_to(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    assert image().err == (
        "error: no embedded AWS is running in this directory; start it: trainshed offline up\n"
    )
