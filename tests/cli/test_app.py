"""`python app.py`, as the CDK CLI calls it, with input that is wrong."""

import json
import os
import shlex
import signal
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


def test_an_interrupt_ends_it_without_a_traceback(tmp_path: Path) -> None:
    # It waits for what somebody writes into this file, which nobody does.
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    app = subprocess.Popen(
        [sys.executable, APP],
        env=os.environ | {"CDK_CONTEXT_JSON": json.dumps({"clusters": str(pipe)})},
        stderr=subprocess.PIPE,
        text=True,
    )
    with pipe.open("w"):
        app.send_signal(signal.SIGINT)
        _, errors = app.communicate()

    assert app.returncode == -signal.SIGINT
    assert "Traceback" not in errors


def test_without_a_region_cdk_and_the_command_line_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "name: Cluster1\ninstance: {type: trn1.32xlarge}\n", encoding="utf-8"
    )
    known = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = known | {"CDK_DEFAULT_REGION": ""}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(APP.parent / "src")}
    environment |= {"AWS_EC2_METADATA_DISABLED": "true", "CDK_DISABLE_CLI_TELEMETRY": "true"}
    # `exec`, because the CDK CLI takes the quotes off an argument that begins and ends with one.
    app = f"exec {shlex.join([sys.executable, str(APP)])}"
    cdk = [str(APP.parent / "node_modules/.bin/cdk"), "--app", app]

    ended = [
        subprocess.run(each, cwd=tmp_path, env=environment, capture_output=True, text=True)
        for each in (
            [*cdk, "synth", "-q", "-c", "clusters=c.yaml"],
            [sys.executable, "-m", "trainshed.cli", "explain", "c.yaml"],
        )
    ]

    words = (
        "error: c.yaml:1: region: is not given; give it here, or set AWS_REGION, or the region of "
        "your AWS profile"
    )
    assert [each.returncode for each in ended] == [1, 2]
    assert all(words in each.stderr for each in ended)


def test_from_another_directory_the_advice_on_files_names_some(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, APP], cwd=tmp_path, env=os.environ, capture_output=True, text=True
    )

    assert ended.returncode == 2
    (advised,) = map(Path, shlex.split(ended.stderr.rpartition("-c clusters=")[2]))
    assert list(advised.parent.glob(advised.name))


def test_loading_the_stacks_asks_node_for_nothing() -> None:
    # app.py loads them while Node loads CDK's template checks, and Node answers one at a time.
    code = """
import importlib, pkgutil, jsii, aws_cdk
jsii.kernel.provider = None
import trainshed_constructs, trainshed_stacks
for package in (trainshed_constructs, trainshed_stacks):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith(".handler"):  # runs in Lambda
            importlib.import_module(module.name)
"""

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (ended.returncode, ended.stderr) == (0, "")
