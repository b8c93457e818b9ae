"""The mirror of chart registries, as an OCI client asks it."""

import io
import tarfile
from hashlib import sha256

import pytest
import requests

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.kubernetes.cache import unavailable

pytestmark = pytest.mark.server
JOBSET = "registry.k8s.io/jobset/charts/jobset"


@pytest.fixture
def mirror(eks_aws: EmbeddedAws) -> str:
    if reason := unavailable():
        pytest.skip(reason)
    return f"{eks_aws.endpoint}/v2/chart--mirror"


def digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def test_a_chart_is_pulled_by_tag_and_by_digest(mirror: str) -> None:
    by_tag = requests.get(f"{mirror}/{JOBSET}/manifests/0.12.0")

    assert by_tag.headers["Content-Type"] == "application/vnd.oci.image.manifest.v1+json"
    assert by_tag.headers["Docker-Content-Digest"] == digest(by_tag.content)
    again = requests.get(f"{mirror}/{JOBSET}/manifests/{digest(by_tag.content)}")
    assert again.content == by_tag.content
    [layer] = by_tag.json()["layers"]
    blob = requests.get(f"{mirror}/{JOBSET}/blobs/{layer['digest']}").content
    assert (digest(blob), len(blob)) == (layer["digest"], layer["size"])
    with tarfile.open(fileobj=io.BytesIO(blob)) as archive:
        names = archive.getnames()
    assert {"jobset/Chart.yaml", "jobset/values.yaml"} <= {*names}


def test_a_head_has_no_body_and_the_length(mirror: str) -> None:
    head = requests.head(f"{mirror}/{JOBSET}/manifests/0.12.0")

    assert head.content == b""
    got = requests.get(f"{mirror}/{JOBSET}/manifests/0.12.0")
    assert head.headers["Content-Length"] == str(len(got.content))


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (f"{JOBSET}/manifests/0.11.0", "MANIFEST_UNKNOWN"),
        (f"{JOBSET}/blobs/sha256:{'0' * 64}", "BLOB_UNKNOWN"),
        ("registry.k8s.io/etcd/manifests/3.6", "NAME_UNKNOWN"),
        (f"docker.io/{JOBSET}/manifests/0.12.0", "NAME_UNKNOWN"),
        (f"{JOBSET}/tags/list", "NAME_INVALID"),
    ],
)
def test_what_is_not_there_is_refused_in_the_words_of_a_registry(
    mirror: str, path: str, code: str
) -> None:
    answer = requests.get(f"{mirror}/{path}")

    assert answer.status_code == 404
    assert [each["code"] for each in answer.json()["errors"]] == [code]


def test_nothing_can_be_pushed(mirror: str) -> None:
    assert requests.put(f"{mirror}/{JOBSET}/manifests/0.12.0", data=b"{}").status_code == 405
