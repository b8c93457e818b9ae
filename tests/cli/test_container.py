"""`trainshed container`, typed wrongly: one line, exit code 2, nothing built."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
ROOT = Path(__file__).parents[2]
TEXT = "name: TrainCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cluster file in a directory that is no checkout."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "train.yaml"
    file.write_text(TEXT)
    return file


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["build"], "missing argument", id="no-cluster"),
        pytest.param(["build", "train.yaml", "--engine", "dokcer"], "docker?", id="engine"),
        pytest.param(["build", "train.yaml", "--build-arg", "BASE"], "NAME=VALUE", id="argument"),
        pytest.param(["build", "train.yaml", "--tag", "a b"], "'a b' is not a tag (up", id="tag"),
        pytest.param(["push", "nowhere.yaml"], "nowhere.yaml", id="no-file"),
        pytest.param(["lst"], "did you mean 'list'", id="unknown-command"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    trainshed: Command, cluster: Path, words: list[str], message: str
) -> None:
    answer = trainshed("container", *words)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert message.lower() in answer.err.lower()


def test_a_digest_is_no_tag_to_build_under(trainshed: Command, cluster: Path) -> None:
    cluster.write_text(f"{TEXT}image:\n  digest: sha256:{'0' * 64}\n")

    answer = trainshed("container", "build", "train.yaml")

    assert answer.code == 2
    assert answer.err.startswith("error: train.yaml:5: image.digest names an image that exists")
    assert "--tag" in answer.err


def test_tag_and_digest_are_reported_with_their_line(trainshed: Command, cluster: Path) -> None:
    cluster.write_text(f"{TEXT}image:\n  tag: v2\n  digest: sha256:{'0' * 64}\n")

    answer = trainshed("container", "build", "train.yaml")

    assert answer.code == 2
    assert answer.err == (
        "error: train.yaml:6: image.digest: names an image, and so does tag, 'v2'; leave one out\n"
    )


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the only engine of this machine puts the context that it is called with."""
    copy = tmp_path / "context"
    engine = tmp_path / "bin" / "buildah"
    engine.parent.mkdir()
    engine.write_text(
        f'#!/bin/sh\nif [ "$1" = build ]; then for last; do :; done; cp -r "$last" {copy}; fi\n'
    )
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{engine.parent}:/usr/bin:/bin")
    return copy


def test_outside_of_a_checkout_the_shipped_sources_are_built(
    trainshed: Command, cluster: Path, built: Path
) -> None:
    answer = trainshed("container", "build", "train.yaml", "--engine", "buildah")

    assert answer.code == 0, answer.err
    dockerfile = ROOT / "containers/neuron/Dockerfile"
    assert f"from {dockerfile.parent} with" in answer.err
    assert (built / "Dockerfile").read_bytes() == dockerfile.read_bytes()


def test_a_project_with_sources_of_its_own_gets_those(
    trainshed: Command, cluster: Path, built: Path
) -> None:
    for name in ("containers", "packer"):
        shutil.copytree(ROOT / name, name)
    changes = {
        "containers/neuron/Dockerfile": "\n# ours\n",
        "packer/files/opt/trainshed/pin": "\n#",
    }
    for name, addition in changes.items():
        with Path(name).open("a") as file:
            file.write(addition)

    answer = trainshed("container", "build", "train.yaml", "--engine", "buildah")

    assert answer.code == 0, answer.err
    assert "from containers/neuron with" in answer.err
    assert (built / "Dockerfile").read_text().endswith("# ours\n")
    assert (built / "trainshed/pin").read_text().endswith("\n#")


def test_a_folder_of_that_name_that_is_something_else_is_left_alone(
    trainshed: Command, cluster: Path, built: Path
) -> None:
    Path("containers/web").mkdir(parents=True)
    Path("packer").mkdir()

    answer = trainshed("container", "build", "train.yaml", "--engine", "buildah")

    assert answer.code == 0, answer.err
    assert f"from {ROOT / 'containers/neuron'} with" in answer.err
