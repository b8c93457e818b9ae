"""`trainshed offline`, as it is typed: what it adds to the embedded AWS's own commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.lifecycle import Project

Command = Callable[..., Any]


def test_the_commands_of_the_embedded_aws_are_there(trainshed: Command, endpoint: str) -> None:
    answer = trainshed("offline", "up")

    assert answer.code == 0
    assert f"is up already at {endpoint}" in answer.out
    assert 'eval "$(trainshed offline env)"' in answer.out


def test_what_the_embedded_aws_refuses_is_one_line(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = trainshed("offline", "env")

    assert answer.code == 1
    assert answer.err == (
        "error: no embedded AWS is running in this directory; start it: trainshed offline up\n"
    )


def test_a_command_is_named_as_it_is_typed(trainshed: Command, endpoint: str) -> None:
    other_settings = trainshed("offline", "up", "--account", "210987654321")
    without_dashes = trainshed("offline", "run", "true")

    assert other_settings.err.endswith("stop it first: trainshed offline down\n")
    assert "trainshed offline run [OPTIONS] -- COMMAND" in without_dashes.err


def test_jobs_of_an_embedded_aws_that_is_started_here_find_the_launcher(
    trainshed: Command, project: Project, tmp_path: Path
) -> None:
    found = tmp_path / "found"

    answer = trainshed("offline", "run", "--", "sh", "-c", f"command -v trainshed-launch >{found}")

    assert answer.code == 0
    assert found.read_text().endswith("/trainshed-launch\n")


def test_the_aws_of_a_project_has_the_regions_and_types_of_its_clusters(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters/dl1.yaml").write_text(
        "name: Dl1Cluster\nregion: us-east-1\ninstance: {type: dl1.24xlarge}\n"
    )

    project = trainshed("offline", "run", "--", "sh", "-c", "echo $AWS_REGION >region")
    options = trainshed(
        *("offline", "run", "--region", "us-west-2", "--as-of", "today", "--", "true")
    )

    assert (project.code, options.code) == (0, 0)
    assert (tmp_path / "region").read_text() == "us-east-1\n"
    assert "regions of the project here: us-east-1\n" in project.err
    assert "instance types as of 2026-07-01, the last day with all of the project here" in (
        project.err
    )
    assert options.err == ""


def test_an_ami_is_added_that_can_be_published(
    trainshed: Command, endpoint: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    image_id = trainshed("offline", "ami", "neuron", "ecs").out.strip()
    running = project.running()
    assert running
    for name, value in project.environment(running).items():
        if value is not None:
            monkeypatch.setenv(name, value)

    answer = trainshed("ami", "publish", image_id, "--channel", "stable", "--json")

    [written] = answer.json
    assert written["image_id"] == image_id.strip()
    assert written["channel"] == "neuron/ecs stable"


def test_an_ami_for_nothing_that_is_known_is_one_line(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # Where no embedded AWS runs: the names are checked first.
    answer = trainshed("offline", "ami", "neuro", "ecs")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "error: accelerator 'neuro' is not known; did you mean neuron? "
        "(known: neuron, habana, nvidia)\n"
    )


def test_an_ami_for_what_is_like_nothing_is_answered_with_all_there_is(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = trainshed("offline", "ami", "neuron", "xx")

    assert answer.err == (
        "error: agent 'xx' is not known (known: ec2, ecs, eks-1.34, eks-1.35, eks-1.36)\n"
    )
