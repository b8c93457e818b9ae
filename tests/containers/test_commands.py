"""`trainshed container push` and `list`, as they are typed, against ECR's registry."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batch_plans import batch_of

from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import load_fleet

NEURON = """\
FROM scratch
COPY Dockerfile /
LABEL trainshed.accelerator=neuron trainshed.driver.neuron-dkms=">=2.29,<2.30"
"""
Trainshed = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def trainshed(aws: EmbeddedAws, bench: Any, repository: str, tmp_path: Path) -> Trainshed:
    """Run a command where buildah and AWS are those of the bench."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["trainshed", "container", *words],
            cwd=tmp_path,
            env=aws.environment | bench.variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def built(bench: Any) -> None:
    """The image `train:v1` is on this machine."""
    bench.make("train:v1", NEURON)


@pytest.fixture
def ami(aws: EmbeddedAws) -> Callable[..., str]:
    """Register an AMI with tags."""

    def register(**tags: str) -> str:
        ec2 = aws.client("ec2")
        image: str = ec2.register_image(Name=f"ami-{len(tags)}", RootDeviceName="/dev/xvda")[
            "ImageId"
        ]
        named = {f"trainshed:{name}": value for name, value in tags.items()}
        if named:
            pairs = [{"Key": key, "Value": value} for key, value in named.items()]
            ec2.create_tags(Resources=[image], Tags=pairs)
        return image

    return register


@pytest.mark.usefixtures("built")
def test_push_prints_the_digest_and_the_line_of_the_spec(
    trainshed: Trainshed, cluster: Path, ecr: Any, repository: str
) -> None:
    done = trainshed("push", str(cluster), "--engine", "buildah")

    assert done.returncode == 0, done.stderr
    (image,) = ecr.describe_images(repositoryName="train")["imageDetails"]
    digest = image["imageDigest"]
    line = f'image: {{repository: train, digest: "{digest}"}}'
    assert done.stdout.splitlines() == [f"pushed {repository}:v1", f"digest {digest}", line]
    changed = cluster.read_text().replace("image: {repository: train, tag: v1}", line)
    cluster.write_text(changed)
    (plan,) = load_fleet([cluster]).clusters
    assert (batch_of(plan).image.digest, batch_of(plan).image.tag) == (digest, None)


@pytest.mark.parametrize("command", ["build", "push", "list"])
def test_a_cluster_whose_image_is_made_elsewhere_is_reported_so(
    trainshed: Trainshed, cluster: Path, command: str
) -> None:
    uri = "nvcr.io/nvidia/pytorch:25.01-py3"
    text = cluster.read_text()
    cluster.write_text(text.replace("{repository: train, tag: v1}", f"{{uri: '{uri}'}}"))

    done = trainshed(command, str(cluster))

    assert (done.returncode, done.stdout) == (2, "")
    assert "image.uri names an image that is made elsewhere" in done.stderr
    assert "give image.repository" in done.stderr


@pytest.mark.usefixtures("built")
def test_the_password_is_in_no_output(trainshed: Trainshed, cluster: Path) -> None:
    done = trainshed("push", str(cluster))

    assert "123456789012.us-west-2" not in done.stdout + done.stderr


@pytest.mark.usefixtures("built")
def test_a_tag_that_is_taken_is_refused_before_anything_is_sent(
    trainshed: Trainshed, cluster: Path, bench: Any, aws: EmbeddedAws, ecr: Any
) -> None:
    assert trainshed("push", str(cluster)).returncode == 0
    bench.make("train:v1", NEURON.replace("2.30", "2.31"))
    (before,) = ecr.describe_images(repositoryName="train")["imageDetails"]
    asked = aws.log.read_text().count("/v2/")

    done = trainshed("push", str(cluster))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: train:v1 exists since ")
    assert before["imageDigest"] in done.stderr
    assert "push under another tag" in done.stderr
    assert aws.log.read_text().count("/v2/") == asked


@pytest.mark.usefixtures("built")
def test_a_tag_of_a_mutable_repository_can_be_pushed_again(
    trainshed: Trainshed, cluster: Path, ecr: Any
) -> None:
    ecr.put_image_tag_mutability(repositoryName="train", imageTagMutability="MUTABLE")

    codes = [trainshed("push", str(cluster)).returncode for _ in range(2)]

    assert codes == [0, 0]


def test_push_of_what_was_not_built_says_how_to_build(
    trainshed: Trainshed, cluster: Path, bench: Any
) -> None:
    bench.buildah("rmi", "--force", "train:v1")

    done = trainshed("push", str(cluster))

    assert done.returncode == 1
    assert "has no image train:v1; build it first: trainshed container build" in done.stderr


@pytest.mark.usefixtures("built")
def test_a_repository_that_is_not_deployed_is_reported(
    trainshed: Trainshed, cluster: Path, ecr: Any
) -> None:
    ecr.delete_repository(repositoryName="train")

    done = trainshed("push", str(cluster))

    assert done.returncode == 1
    assert "us-west-2 has no repository 'train'" in done.stderr


@pytest.mark.usefixtures("built")
def test_an_ami_without_the_driver_stops_the_push(
    trainshed: Trainshed, cluster: Path, ecr: Any, ami: Callable[..., str]
) -> None:
    old = ami(**{"accelerator": "neuron", "version:neuron-dkms": "2.26.10.0"})

    done = trainshed("push", str(cluster), "--ami", old)

    assert done.returncode == 1
    assert done.stderr.startswith("TS-IMG-001 error: train:v1 needs neuron-dkms >=2.29,<2.30 ")
    assert f"{old} has 2.26.10.0" in done.stderr
    assert ecr.describe_images(repositoryName="train")["imageDetails"] == []


@pytest.mark.usefixtures("built")
def test_what_the_cluster_file_accepts_stops_no_push(
    trainshed: Trainshed, cluster: Path, ami: Callable[..., str]
) -> None:
    said = "findings: {accept: {TS-IMG-001: tried on one node}}\n"
    cluster.write_text(cluster.read_text() + said)
    old = ami(**{"accelerator": "neuron", "version:neuron-dkms": "2.26.10.0"})

    pushed = trainshed("push", str(cluster), "--ami", old)
    listed = trainshed("list", str(cluster), "--ami", old)

    assert pushed.returncode == 0, pushed.stderr
    assert "TS-IMG-001 error: " in pushed.stderr
    assert "; accepted: tried on one node" in pushed.stderr
    assert listed.returncode == 0
    assert "; accepted: tried on one node" in listed.stdout


@pytest.mark.usefixtures("built")
def test_list_shows_what_an_image_needs_and_finds_what_an_ami_lacks(
    trainshed: Trainshed, cluster: Path, ami: Callable[..., str]
) -> None:
    trainshed("push", str(cluster))
    good = ami(**{"accelerator": "neuron", "version:neuron-dkms": "2.29.0.0"})
    other = ami(accelerator="nvidia")

    with_good = trainshed("list", str(cluster), "--ami", good, "--json")
    with_other = trainshed("list", str(cluster), "--ami", other)
    with_none = trainshed("list", str(cluster), "--ami", "ami-0123456789abcdef0")

    assert (with_good.returncode, with_good.stderr) == (0, "")
    (record,) = json.loads(with_good.stdout)
    assert record["tags"] == ["v1"]
    assert record["accelerator"] == "neuron"
    assert record["drivers"] == {"neuron-dkms": ">=2.29,<2.30"}
    assert with_other.returncode == 1
    assert "neuron-dkms >=2.29,<2.30" in with_other.stdout
    assert "TS-IMG-002 error" in with_other.stdout
    assert "TS-IMG-004 warning" in with_none.stdout
