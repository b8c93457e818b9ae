"""`trainshed explain CLUSTER --deploy`: the longest chain, from the project's own templates."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documented import examples

from trainshed.plan import load_fleet

Trainshed = Callable[..., Any]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_it_shows_the_chain_of_the_app_and_what_is_apart(trainshed: Trainshed) -> None:
    answer = trainshed("explain", "train", "--deploy", "-c", "clusters/train.yaml")

    assert answer.code == 0
    assert "synthesising the app" in answer.err
    rows = [line.split("│")[1:-1] for line in answer.out.splitlines() if line.startswith("│ Train")]
    files = [row for row in rows if "AWS::FSx::FileSystem" in row[2]]
    assert [cell.strip() for cell in files[0]] == [
        "TrainStorage",
        "Lustre/PersistentFileSystem",
        "AWS::FSx::FileSystem",
        "10 min to 20 min",
        "Lustre/Guard/Resource/Default",
    ]
    assert "it waits longest for Lustre/PersistentFileSystem of TrainStorage" in answer.out
    assert "the longest chain: at least 12 min 3 s to 22 min 43 s, and " in answer.out
    (shown,) = [e.output for e in examples() if e.command == "trainshed explain train --deploy"]
    assert [line.rstrip() for line in answer.out.splitlines()] == shown.rstrip().splitlines()
    assert (
        "no resource of TrainStorage waits for one of TrainCluster, or the reverse; TrainCluster "
        "comes after TrainStorage by the order of the stacks only" in answer.out
    )


def test_json_has_the_sources_of_the_times(
    trainshed: Trainshed,
    synthesise: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = synthesise(load_fleet([ROOT / "clusters" / "train.yaml"]))

    def copy(app: object, python: Path, output: Path, version: str) -> None:
        shutil.copytree(made, output, dirs_exist_ok=True)

    monkeypatch.setattr("trainshed.cli.deployment.synthesise", copy)

    answer = trainshed("explain", "train", "--deploy", "--json")

    found = json.loads(answer.out)
    times = {link["type"]: link["time"] for link in found["chain"] if link["time"]}
    assert times["AWS::EC2::NatGateway"]["high_seconds"] == 125
    assert times["AWS::FSx::FileSystem"]["date"] == "2026-11-20"
    assert found["longest"]["low_seconds"] == 723
    (apart,) = found["storage_and_compute"]
    assert apart.startswith("no resource of TrainStorage waits for one of TrainCluster")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name it"),
        (["train", "--region", "us-west-2"], "set AWS_REGION"),
        (["train", "--svg", "x.svg"], "leave --svg out"),
    ],
)
def test_what_does_not_go_with_it_is_refused(
    trainshed: Trainshed, arguments: list[str], words: str
) -> None:
    answer = trainshed("explain", "--deploy", *arguments)

    assert (answer.code, words in answer.err) == (2, True)


def test_outside_of_a_project_it_says_where_to_run(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = trainshed("explain", str(ROOT / "clusters" / "train.yaml"), "--deploy")

    assert answer.code == 2
    assert "run this in the folder of a project" in answer.err
