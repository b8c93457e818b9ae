"""`make demo`: what a newcomer runs first."""

import re
import subprocess
import sys
from pathlib import Path

import demo
import pytest
from rich.console import Console

from embedded_aws.hosts.image_files import containers_unavailable
from embedded_aws.kubernetes.cache import unavailable

pytestmark = [pytest.mark.synth, pytest.mark.server]
ROOT = Path(__file__).parents[2]


def test_it_deploys_runs_a_job_and_says_so_on_one_screen() -> None:
    done = subprocess.run(
        ["trainshed", "offline", "run", "--", sys.executable, "scripts/demo.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(lines) < 40
    for stack in ("CDKToolkit", "TrainContainers", "TrainNetwork", "TrainStorage", "TrainCluster"):
        assert any(re.match(rf"│ {stack} +│ CREATE_COMPLETE +│", line) for line in lines), stack
    assert "mpirun: all 8 ranks on 4 nodes have the sum 28" in lines
    assert any("First job: a check of 2 nodes: 2 nodes passed" in line for line in lines)
    events = (ROOT / "build/up/TrainCluster/stacks.log").read_text(encoding="utf-8")
    assert "CREATE_COMPLETE" in events
    assert re.search(r"ContainerImage = at .* UTC, image train:2.9.0-neuronx was there", events)


def test_it_deploys_a_cluster_of_eks_whose_nodes_have_what_was_planned() -> None:
    # Its programs run in containers.
    if reason := unavailable() or containers_unavailable():
        pytest.skip(reason)
    options = ["--kubernetes", "--job-speed", "100"]
    done = subprocess.run(
        ["trainshed", "offline", "run", *options, "--", sys.executable, "scripts/demo.py", "--eks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(lines) < 60
    for stack in ("TrainNetwork", "TrainControlPlane", "TrainCluster"):
        assert any(re.match(rf"│ {stack} +│ CREATE_COMPLETE +│", line) for line in lines), stack
    nodes = [line for line in lines if line.startswith("│ ip-")]
    assert [re.findall(r"│ (\d+) +│ (\d+) +│", line) for line in nodes] == [[("8", "4")]] * 4
    assert "all 4 nodes have what was planned" in lines
    assert "mpirun: all 8 ranks on 4 nodes have the sum 28" in lines
    assert any("First job: a check of 4 nodes: 4 nodes passed" in line for line in lines)


def test_a_step_that_fails_shows_the_end_of_what_it_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    shown = demo.Demo(logs=tmp_path, console=Console())

    with (
        pytest.raises(SystemExit, match=r"error: count: .* ended with 3; .* is in 1-count\.log"),
        shown.step("count") as step,
    ):
        step.run(["sh", "-c", "seq 100; exit 3"], folder=tmp_path)

    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(number) for number in range(71, 101)]
