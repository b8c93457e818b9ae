"""ECR's registry, as buildah sees it."""

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from socket import create_server
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings, SettingsError
from trainshed.aws import Region
from trainshed.containers.repository import ContainerRepository, PushedImage
from trainshed.errors import Failure

IMAGE = "FROM scratch\nCOPY Dockerfile /\nLABEL trainshed.accelerator={}\n"
PLAIN = "--tls-verify=false"


@pytest.fixture
def login(bench: Any, ecr: Any, tmp_path: Path) -> str:
    """File with a login that ECR's token gave."""
    (data,) = ecr.get_authorization_token()["authorizationData"]
    user, _, password = base64.b64decode(data["authorizationToken"]).decode().partition(":")
    host = data["proxyEndpoint"].partition("//")[2]
    file = tmp_path / "auth.json"
    bench.done("login", PLAIN, "--authfile", str(file), "-u", user, "-p", password, host)
    return str(file)


def push(bench: Any, login: str, image: str, target: str) -> Any:
    return bench.buildah("push", PLAIN, "--authfile", login, image, f"docker://{target}")


def test_what_is_pushed_is_described_and_can_be_pulled_by_its_digest(
    bench: Any, ecr: Any, repository: str, login: str
) -> None:
    bench.make("one:v1", IMAGE.format("cpu"))

    pushed = push(bench, login, "one:v1", f"{repository}:v1")

    assert pushed.returncode == 0, pushed.stderr
    (image,) = ecr.describe_images(repositoryName="train")["imageDetails"]
    assert image["imageTags"] == ["v1"]
    assert 0 < image["imageSizeInBytes"] < 10_000
    bench.done("rmi", "one:v1")
    pulled = bench.done(
        "pull", PLAIN, "--authfile", login, f"docker://{repository}@{image['imageDigest']}"
    )
    found = json.loads(bench.done("inspect", "--type", "image", pulled))
    assert found["OCIv1"]["config"]["Labels"]["trainshed.accelerator"] == "cpu"


def test_an_immutable_tag_is_not_overwritten(
    bench: Any, ecr: Any, repository: str, login: str
) -> None:
    bench.make("one:v1", IMAGE.format("one"))
    bench.make("two:v1", IMAGE.format("two"))
    push(bench, login, "one:v1", f"{repository}:v1")
    before = ecr.list_images(repositoryName="train")["imageIds"]

    refused = push(bench, login, "two:v1", f"{repository}:v1")

    assert refused.returncode != 0
    assert "tag invalid: The image tag 'v1' already exists in the 'train' repository" in (
        refused.stderr
    )
    assert ecr.list_images(repositoryName="train")["imageIds"] == before


def test_a_mutable_tag_moves_to_the_newer_image(bench: Any, ecr: Any, login: str) -> None:
    uri = ecr.create_repository(repositoryName="lab")["repository"]["repositoryUri"]
    bench.make("one:v1", IMAGE.format("one"))
    bench.make("two:v1", IMAGE.format("two"))

    for image in ("one:v1", "two:v1", "two:v1"):
        assert push(bench, login, image, f"{uri}:v1").returncode == 0

    digests = {each["imageDigest"] for each in ecr.list_images(repositoryName="lab")["imageIds"]}
    (tagged,) = ecr.describe_images(repositoryName="lab", imageIds=[{"imageTag": "v1"}])[
        "imageDetails"
    ]
    assert tagged["imageTags"] == ["v1"]
    assert tagged["imageDigest"] in digests


@pytest.mark.parametrize(
    ("mutability", "tag", "moves"),
    [
        ("IMMUTABLE_WITH_EXCLUSION", "dev-1", True),
        ("IMMUTABLE_WITH_EXCLUSION", "v1", False),
        ("MUTABLE_WITH_EXCLUSION", "dev-1", False),
        ("MUTABLE_WITH_EXCLUSION", "v1", True),
    ],
)
def test_a_filter_is_the_exception_for_the_registry_and_for_us(
    bench: Any, aws: Any, ecr: Any, login: str, mutability: str, tag: str, moves: bool
) -> None:
    uri = ecr.create_repository(
        repositoryName="lab",
        imageTagMutability=mutability,
        imageTagMutabilityExclusionFilters=[{"filterType": "WILDCARD", "filter": "dev-*"}],
    )["repository"]["repositoryUri"]
    for image in ("one", "two"):
        bench.make(f"{image}:v1", IMAGE.format(image))

    pushed = [push(bench, login, f"{image}:v1", f"{uri}:{tag}") for image in ("one", "two")]

    assert [each.returncode == 0 for each in pushed] == [True, moves]
    with pytest.MonkeyPatch.context() as patch:
        aws.lead_here(patch)
        assert ContainerRepository(Region("us-west-2"), "lab").keeps(tag) is not moves


def test_a_repository_that_is_not_there_is_not_made_by_a_push(
    bench: Any, repository: str, login: str
) -> None:
    bench.make("one:v1", IMAGE.format("one"))

    refused = push(bench, login, "one:v1", f"{repository}-of-nobody:v1")

    assert "The repository with name 'train-of-nobody' does not exist" in refused.stderr


def test_without_a_login_nothing_is_reported(bench: Any, repository: str, tmp_path: Path) -> None:
    nothing = tmp_path / "auth.json"
    nothing.write_text("{}")

    refused = bench.buildah("pull", PLAIN, "--authfile", str(nothing), f"docker://{repository}:v1")

    assert "reading manifest v1" in refused.stderr and "unauthorized: " in refused.stderr


def test_the_configuration_of_an_image_can_be_read(
    bench: Any, ecr: Any, repository: str, login: str
) -> None:
    bench.make("one:v1", IMAGE.format("neuron"))
    push(bench, login, "one:v1", f"{repository}:v1")
    (image,) = ecr.batch_get_image(repositoryName="train", imageIds=[{"imageTag": "v1"}])["images"]
    digest = json.loads(image["imageManifest"])["config"]["digest"]

    url = ecr.get_download_url_for_layer(repositoryName="train", layerDigest=digest)["downloadUrl"]

    with urlopen(url) as answer:
        assert json.load(answer)["config"]["Labels"]["trainshed.accelerator"] == "neuron"


def test_a_layer_of_no_image_has_no_url(ecr: Any, repository: str) -> None:
    with pytest.raises(ClientError, match="LayersNotFoundException"):
        ecr.get_download_url_for_layer(repositoryName="train", layerDigest=f"sha256:{'0' * 64}")


@pytest.mark.parametrize("registry", ["example.com:5000", "localhost", "http://localhost:5000"])
def test_a_registry_elsewhere_is_refused(registry: str) -> None:
    with pytest.raises(SettingsError, match="is not HOST:PORT on loopback"):
        ServerSettings(registry=registry)


def test_a_registry_that_does_not_answer_is_named(bench: Any, tmp_path: Path) -> None:
    with create_server(("127.0.0.1", 0)) as free:
        gone = f"127.0.0.1:{free.getsockname()[1]}"
    server = start(ServerSettings(registry=gone), log=tmp_path / "server.log")
    try:
        ecr = EmbeddedAws(server).client("ecr")
        uri = ecr.create_repository(repositoryName="train")["repository"]["repositoryUri"]
        (data,) = ecr.get_authorization_token()["authorizationData"]
        request = Request(f"http://{uri.replace('/', '/v2/')}/blobs/uploads/", method="POST")
        request.add_header("Authorization", f"Basic {data['authorizationToken']}")

        with pytest.raises(HTTPError) as refused:
            urlopen(request)

        assert refused.value.code == 502
        assert f"the registry at {gone} cannot be reached" in refused.value.read().decode()
    finally:
        server.stop()


@dataclass(frozen=True, slots=True)
class LayersAt:
    """A region whose ECR has the layers of its images at this URL."""

    url: str

    def call(self, service: str, operation: str, **_: Any) -> dict[str, Any]:
        manifest = json.dumps({"config": {"digest": "sha256:0"}})
        answers: dict[str, Any] = {
            "batch_get_image": {"images": [{"imageManifest": manifest}]},
            "get_download_url_for_layer": {"downloadUrl": self.url},
        }
        there = {"repositories": [{"repositoryUri": "here/train"}]}
        found: dict[str, Any] = answers.get(operation, there)
        return found


def test_layers_that_cannot_be_read_are_reported_with_their_host_and_not_with_the_signature() -> (
    None
):
    with create_server(("127.0.0.1", 0)) as free:
        gone = f"127.0.0.1:{free.getsockname()[1]}"
    region: Any = LayersAt(f"http://{gone}/blob?Signature=secret")
    repository = ContainerRepository(region, "train", account=None)
    image = PushedImage(digest="sha256:1", tags=(), size_bytes=1, pushed=datetime.now(UTC))

    with pytest.raises(Failure, match=f"cannot be read from {gone}: ") as caught:
        repository.labels(image)

    assert "secret" not in str(caught.value)
