"""`python app.py` with the file of an AMI pipeline."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = (ROOT / "examples/ami-pipeline.yaml").read_text()

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, context: dict[str, Any]) -> Run:
    """Runs the app in a folder with one small cluster, as the CDK CLI does."""
    clusters = tmp_path / "clusters"
    clusters.mkdir()
    (clusters / "one.yaml").write_text(
        "name: OneCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
    )

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        settings = {"CDK_CONTEXT_JSON": json.dumps(context | more)}
        return subprocess.run(
            [sys.executable, ROOT / "app.py"],
            cwd=tmp_path,
            env=os.environ | settings | {"CDK_OUTDIR": str(tmp_path / "out")},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_file_beside_the_clusters_is_synthesised_with_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ami-pipeline.yaml").write_text(EXAMPLE)

    done = run()

    stacks = {path.name.split(".")[0] for path in (tmp_path / "out").glob("*.template.json")}
    assert done.returncode == 0, done.stderr
    parts = ("Prerequisites", "Network", "Containers", "Cluster")
    assert stacks == {*(f"One{part}" for part in parts), "AmiPipeline"}


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        pytest.param(EXAMPLE, "other.yaml", "other.yaml: cannot be read", id="not there"),
        pytest.param(
            EXAMPLE + "name: OneCluster\n",
            "mine.yaml",
            "name: 'OneCluster' is the name of another stack; give the pipeline one of its own",
            id="a cluster's name",
        ),
        pytest.param(
            EXAMPLE.replace("neuron/ecs", "neuron/batch"),
            "mine.yaml",
            "mine.yaml:8: cells.0: 'neuron/batch' is not allowed",
            id="a mistake",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    run: Run, tmp_path: Path, text: str, named: str, words: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text)

    done = run(ami_pipeline=named)

    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert words in done.stderr
