"""`trainshed offline image`: where it puts the stand-in, what it refuses, and why.

That jobs start with it, tests/rehearse shows.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws

ECR = "123456789012.dkr.ecr.us-west-2.amazonaws.com"
OTHER_ACCOUNT = f"210987654321{ECR[12:]}"
ELSEWHERE = f"{ECR.replace('us-west-2', 'eu-west-1')}/train:v1"
DIGEST = f"sha256:{'0' * 64}"
Image = Callable[[str], Answer]


@pytest.fixture
def image(
    clean_aws: EmbeddedAws,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Image:
    """The command, in a project with one cluster, given more lines of its file."""

    def run(lines: str) -> Answer:
        (tmp_path / "train.yaml").write_text(
            f"name: Train\nregion: us-west-2\ninstance: {{type: trn1.32xlarge}}\n{lines}\n"
        )
        return trainshed("offline", "image", "Train", "--clusters", "train.yaml")

    monkeypatch.chdir(tmp_path)
    clean_aws.lead_here(monkeypatch)
    # It is the cluster's region that counts.
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return run


def images(aws: EmbeddedAws, repository: str) -> list[str]:
    listed = aws.client("ecr").list_images(repositoryName=repository)["imageIds"]
    return [each["imageTag"] for each in listed]


@pytest.mark.parametrize(
    ("lines", "repository", "tag"),
    [
        pytest.param("", "train", "v1", id="default"),
        pytest.param('image: {repository: ours, tag: "2"}', "ours", "2", id="named"),
        pytest.param(f'image: {{uri: "{ECR}/other:3"}}', "other", "3", id="uri"),
    ],
)
def test_it_is_what_jobs_will_pull_before_the_cluster_is_deployed(
    image: Image, clean_aws: EmbeddedAws, lines: str, repository: str, tag: str
) -> None:
    clean_aws.client("ecr").create_repository(repositoryName=repository)

    first, again = image(lines), image(lines)

    assert first.out == f"{ECR}/{repository}:{tag}\n"
    assert again == first
    assert images(clean_aws, repository) == [tag]


def test_an_image_that_is_there_stays(
    image: Image, clean_aws: EmbeddedAws, push_image: Callable[..., str]
) -> None:
    clean_aws.client("ecr").create_repository(repositoryName="train")
    digest = push_image(clean_aws, "train", "v1")

    answer = image("")

    listed = clean_aws.client("ecr").list_images(repositoryName="train")["imageIds"]
    assert (answer.out, answer.err) == (f"{ECR}/train:v1\n", "")
    assert listed == [{"imageDigest": digest, "imageTag": "v1"}]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param(
            "",
            "there is no repository train in us-west-2; create it: npx cdk deploy TrainContainers",
            id="no-repository",
        ),
        pytest.param(
            "image: {repository: ours, existing: true, tag: v1}",
            "there is no repository ours in us-west-2; create it: aws ecr create-repository "
            "--repository-name ours",
            id="no-existing-repository",
        ),
        pytest.param(
            'image: {uri: "registry.example/train:v1"}',
            "Train needs no stand-in: its image registry.example/train:v1 is not of this "
            "account's ECR, and the embedded AWS assumes that it exists",
            id="other-registry",
        ),
        pytest.param(
            f'image: {{uri: "{OTHER_ACCOUNT}/train:v1"}}',
            f"Train needs no stand-in: its image {OTHER_ACCOUNT}/train:v1 is not of this "
            "account's ECR, and the embedded AWS assumes that it exists",
            id="other-account",
        ),
        pytest.param(
            f'image: {{digest: "{DIGEST}"}}',
            f"no stand-in for {ECR}/train@{DIGEST} is possible: only one image has this digest; "
            "name an image.tag for use on the embedded AWS, or build and push the image there",
            id="digest",
        ),
        pytest.param(
            f'image: {{uri: "{ELSEWHERE}"}}',
            f"{ELSEWHERE} is of the region eu-west-1, and its cluster is in us-west-2; name an "
            "image of the cluster's region for use on the embedded AWS",
            id="other-region",
        ),
        pytest.param(
            "orchestrator: ec2",
            "Train needs no container image: its jobs run on the nodes themselves, as "
            "orchestrator is ec2",
            id="no-containers",
        ),
    ],
)
def test_an_image_without_a_stand_in_is_reported(image: Image, lines: str, message: str) -> None:
    answer = image(lines)

    assert (answer.code == 0, answer.out) == (False, "")
    assert answer.err == f"error: {message}\n"


def test_no_other_aws_is_written_to(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    assert image("").err == (
        "error: no embedded AWS is running in this directory; start it: trainshed offline up\n"
    )
