"""`python app.py`, as the CDK CLI calls it, with input that is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app.py"


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        pytest.param("bad.yaml", "did you mean trn1.32xlarge?", id="bad-file"),
        pytest.param("", "'' is not a path or a glob", id="empty-context"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(tmp_path: Path, clusters: str, words: str) -> None:
    (tmp_path / "bad.yaml").write_text(
        "name: Cluster1\nregion: us-west-2\ninstance: {type: trn1.32xlarg}\n", encoding="utf-8"
    )

    ended = subprocess.run(
        [sys.executable, APP],
        cwd=tmp_path,
        env=os.environ | {"CDK_CONTEXT_JSON": json.dumps({"clusters": clusters})},
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: ") and ended.stderr.count("\n") == 1
    assert words in ended.stderr
