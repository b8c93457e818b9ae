"""`trainshed image`, typed wrongly: one line, exit code 2, nothing built."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
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
        pytest.param(["build", "train.yaml", "--tag", "a b"], "'a b' is no tag (up to", id="tag"),
        pytest.param(["push", "nowhere.yaml"], "nowhere.yaml", id="no-file"),
        pytest.param(["lst"], "did you mean 'list'", id="unknown-command"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    trainshed: Command, cluster: Path, words: list[str], message: str
) -> None:
    answer = trainshed("image", *words)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert message.lower() in answer.err.lower()


def test_a_digest_is_no_tag_to_build_under(trainshed: Command, cluster: Path) -> None:
    cluster.write_text(f"{TEXT}image:\n  digest: sha256:{'0' * 64}\n")

    answer = trainshed("image", "build", "train.yaml")

    assert answer.code == 2
    assert answer.err.startswith("error: train.yaml:5: image.digest names an image that exists")
    assert "--tag" in answer.err


def test_tag_and_digest_are_told_with_their_line(trainshed: Command, cluster: Path) -> None:
    cluster.write_text(f"{TEXT}image:\n  tag: v2\n  digest: sha256:{'0' * 64}\n")

    answer = trainshed("image", "build", "train.yaml")

    assert answer.code == 2
    assert answer.err == (
        "error: train.yaml:6: image.digest: names an image, and so does tag, 'v2'; leave one out\n"
    )


def test_outside_of_a_checkout_nothing_is_built(
    trainshed: Command, cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "buildah"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    answer = trainshed("image", "build", "train.yaml")

    assert answer.code == 2
    assert "packer/versions.json cannot be read" in answer.err
