"""`python app.py`, as the CDK CLI calls it: what it synthesises, and input that is wrong."""

import gc
import os
import runpy
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

pytestmark = pytest.mark.synth
APP = Path(__file__).parents[2] / "app.py"
EXAMPLE = (APP.parent / "examples/ami-pipeline.yaml").read_text()

Run = Callable[..., int]


@pytest.fixture(scope="module")
def template_checks() -> cdk.CloudFormationValidatePlugin:
    """CDK's own checks of templates; Node needs seconds to load them."""
    return cdk.CloudFormationValidatePlugin()


@pytest.fixture
def run(
    tmp_path: Path,
    context: dict[str, Any],
    template_checks: cdk.CloudFormationValidatePlugin,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Run]:
    """Runs the app in a folder with one small cluster, in this process; returns its exit code.

    The CDK CLI hands the context over in the environment of Node, which is started here already;
    so it is given to CDK's `App`.
    """
    clusters = tmp_path / "clusters"
    clusters.mkdir()
    (clusters / "one.yaml").write_text(
        "name: OneCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
    )
    make_app, outdir = cdk.App, str(tmp_path / "out")

    def run(**selected: str) -> int:
        def app(**options: Any) -> cdk.App:
            options["context"] |= context | selected
            return make_app(outdir=outdir, **options)

        monkeypatch.setattr(cdk, "App", app)
        try:
            runpy.run_path(str(APP), run_name="__main__")
        except SystemExit as ended:
            return int(ended.code or 0)
        return 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cdk, "CloudFormationValidatePlugin", lambda: template_checks)
    # What the app changes in its process is taken back.
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "path", list(sys.path))
    interrupted = signal.getsignal(signal.SIGINT)
    yield run
    signal.signal(signal.SIGINT, interrupted)
    gc.enable()


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        pytest.param("bad.yaml", "did you mean trn1.32xlarge?", id="bad-file"),
        pytest.param("", "'' is not a path or a glob", id="empty-context"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], clusters: str, words: str
) -> None:
    (tmp_path / "bad.yaml").write_text(
        "name: Cluster1\nregion: us-west-2\ninstance: {type: trn1.32xlarg}\n", encoding="utf-8"
    )

    code = run(clusters=clusters)

    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith("error: ") and printed.err.count("\n") == 1
    assert words in printed.err


def test_an_interrupt_ends_it_without_a_traceback(tmp_path: Path) -> None:
    # In place of Node: it says that it was started, and answers nothing until the app is gone. It
    # keeps its output open (3), because the app fails at the end of it.
    started, node = tmp_path / "started", tmp_path / "node"
    os.mkfifo(started)
    node.write_text(f"#!/bin/sh\necho started >'{started}'\nexec cat 3>&1 >/dev/null\n")
    node.chmod(0o755)
    app = subprocess.Popen(
        [sys.executable, APP],
        env=os.environ | {"JSII_NODE": str(node)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.read_text() == "started\n"
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
    environment |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    environment |= {"PYTHONPATH": str(APP.parent / "src")}
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


def test_from_another_directory_the_advice_on_files_names_some(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "clusters/one.yaml").unlink()

    code = run()

    assert code == 2
    (advised,) = map(Path, shlex.split(capsys.readouterr().err.rpartition("-c clusters=")[2]))
    assert list(advised.parent.glob(advised.name))


def test_the_file_of_an_ami_pipeline_beside_the_clusters_is_synthesised_with_them(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "ami-pipeline.yaml").write_text(EXAMPLE)

    code = run()

    stacks = {path.name.split(".")[0] for path in (tmp_path / "out").glob("*.template.json")}
    assert code == 0
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
def test_what_is_wrong_with_an_ami_pipeline_is_one_line_and_exit_code_2(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, named: str, words: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text)

    code = run(ami_pipeline=named)

    error = capsys.readouterr().err
    assert code == 2
    assert error.startswith("error: ") and error.count("\n") == 1
    assert words in error


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
