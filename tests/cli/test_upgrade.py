"""`trainshed upgrade`: what it compares and refuses, and what becomes of a project's own lines."""

import json
import os
import select
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reviewed_project import APP, write_project

from trainshed import __version__
from trainshed.project.versions import requirements_text, upgraded_requirements
from trainshed.review import reviewing

Command = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_engine: None) -> Path:
    """The working directory, with an app; pip asks no index, and no tool judges the templates."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("APP_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(reviewing, "PROGRAMS", ())
    folder = tmp_path / "project"
    write_project(folder, APP)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        pytest.param(None, "run this in the folder of a project", id="none"),
        pytest.param('{"app": ""}', "run this in the folder of a project", id="empty-app"),
        pytest.param("{}", "run this in the folder of a project", id="no-app"),
        pytest.param("{", "cdk.json is not JSON: ", id="no-json"),
        pytest.param('{"app": "uv run app.py"}', "start the app by python3", id="not-python"),
        pytest.param('{"app": "  "}', "run this in the folder of a project", id="blank-app"),
        pytest.param('{"app": 5}', "cdk.json: app is not a text", id="number-app"),
        pytest.param('{"app": ["python3", "app.py"]}', "app is not a text", id="list-app"),
        pytest.param('{"app": "python3 \'app.py"}', "No closing quotation", id="open-quote"),
        pytest.param('{"app": "python3 a", "context": []}', "context is not", id="list-context"),
        pytest.param('{"app": "python3 a", "context": null}', "context is not", id="no-context"),
        pytest.param("[]", "cdk.json is not a JSON object", id="list"),
        pytest.param("null", "cdk.json is not a JSON object", id="null"),
        pytest.param('"x"', "cdk.json is not a JSON object", id="text"),
        pytest.param("[" * 100_000, "cdk.json is not JSON: ", id="deep"),
    ],
)
def test_what_is_no_project_is_refused(
    trainshed: Command, project: Path, configuration: str | None, message: str
) -> None:
    (project / "cdk.json").unlink()
    if configuration:
        (project / "cdk.json").write_text(configuration)

    answer = trainshed("upgrade", "--to", "9.9.9")

    assert answer.code == 2
    assert message in answer.err and answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("app", "words"),
    [
        pytest.param("", "it ended without a cloud assembly", id="no-synth"),
        pytest.param("raise SystemExit(3)", "it ended with exit code 3, and printed", id="silent"),
        pytest.param(
            r"import os; os.write(2, b'no \xff here\n'); os._exit(1)",
            "no \N{REPLACEMENT CHARACTER} here",
            id="not-utf-8",
        ),
    ],
)
def test_an_app_without_words_or_in_odd_ones_is_reported(
    trainshed: Command, project: Path, app: str, words: str
) -> None:
    (project / "app.py").write_text(app)

    answer = trainshed("upgrade", "--to", "9.9.9")

    assert answer.code == 1
    assert f"the app does not synthesise:\n{words}" in answer.err


def test_an_app_that_fails_is_named_with_its_version_and_its_last_words(
    trainshed: Command, project: Path
) -> None:
    (project / "app.py").write_text("raise SystemExit('error: no such cluster')")

    answer = trainshed("upgrade", "--to", "9.9.9")

    assert answer.code == 1
    assert f"with trainshed {__version__} the app does not synthesise:\n" in answer.err
    assert answer.err.endswith("error: no such cluster\n")


@pytest.fixture(scope="module")
def new_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment as the command makes it, which takes pip four CPU seconds."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True, symlinks=True)
    return folder


@pytest.fixture
def environment(new_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command gets a copy of the environment instead of making one."""

    def copy(folder: Path, *, with_pip: bool, symlinks: bool) -> None:
        assert (with_pip, symlinks) == (True, True)
        # Pip replaces files, and writes into none.
        shutil.copytree(new_environment, folder, symlinks=True, copy_function=os.link)

    monkeypatch.setattr(venv, "create", copy)


@pytest.mark.parametrize(
    ("to", "message"),
    [
        pytest.param("9.9.9", "trainshed 9.9.9 cannot be installed: pip says: ", id="version"),
        pytest.param("a-1-py3-none-any.whl", "there is no file a-1", id="no-file"),
        pytest.param(".", "the folder . has no wheel of trainshed", id="no-wheel"),
        pytest.param("", "'' is not a version, such as 0.2.0, a wheel", id="empty"),
        pytest.param("latest", "'latest' is not a version", id="word"),
        pytest.param("nowhere/", "'nowhere/' is not a version", id="no-folder"),
    ],
)
@pytest.mark.usefixtures("project", "environment")
def test_what_cannot_be_installed_is_one_message(trainshed: Command, to: str, message: str) -> None:
    answer = trainshed("upgrade", "--to", to)

    [error] = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert answer.code == 2
    assert message in error


def test_without_a_version_nothing_is_installed(
    trainshed: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stranger's package, on the index that pip asks.
    write_wheel(project, "embedded-aws==4.5.6; extra == 'offline'")
    monkeypatch.setenv("PIP_FIND_LINKS", str(project))

    answer = trainshed("upgrade")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: --to is missing: give the other version's wheel, or")
    assert answer.err.count("\n") == 1
    assert not (project / "build").exists()


def test_a_stopped_upgrade_leaves_no_temporary_folder(project: Path) -> None:
    temporary = project / "tmp"
    temporary.mkdir()
    os.mkfifo(project / "started")
    (project / "app.py").write_text("open('started', 'w').close()\nimport signal\nsignal.pause()")
    command = [sys.executable, "-m", "trainshed.cli", "upgrade", "--to", "9.9.9"]
    process = subprocess.Popen(
        command, env=os.environ | {"TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True
    )
    with os.fdopen(os.open(project / "started", os.O_RDONLY | os.O_NONBLOCK)) as started:
        assert select.select([started], [], [], 60)[0], "the app was not started"
    assert [*temporary.iterdir()]

    process.terminate()
    _, errors = process.communicate()

    assert process.returncode == 143
    assert "Traceback" not in errors
    assert not [*temporary.iterdir()]


def write_wheel(folder: Path, requirement: str) -> None:
    """Trainshed 9.0.0, with nothing but its locks."""
    with zipfile.ZipFile(folder / "trainshed-9.0.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("trainshed/_shipped/package.json", '{"devDependencies": {}}')
        wheel.writestr("trainshed/_shipped/requirements/runtime.txt", "")
        wheel.writestr("trainshed/_shipped/requirements/dev.txt", "")
        information = "trainshed-9.0.0.dist-info"
        metadata = f"Name: trainshed\nVersion: 9.0.0\nRequires-Dist: {requirement}\n"
        wheel.writestr(f"{information}/METADATA", metadata)
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")


@pytest.mark.usefixtures("environment")
def test_a_version_that_changes_nothing_is_nothing_dangerous(
    trainshed: Command, project: Path
) -> None:
    write_wheel(project, "embedded-aws==4.5.6; extra == 'offline'")

    answer = trainshed("upgrade", "--to", ".")

    assert answer.code == 0, answer.err
    assert "## Review: Nothing dangerous; no resource differs\n" in answer.out
    assert "\nto use trainshed 9.0.0:\n" in answer.err
    assert "\n  pip install --no-deps wheels/*.whl\n" in answer.err


@pytest.mark.usefixtures("environment")
def test_what_the_other_version_makes_of_the_project_is_reviewed(
    trainshed: Command, project: Path
) -> None:
    write_wheel(project, "embedded-aws==4.5.6; extra == 'offline'")
    bucket = "{} if version('trainshed') == '9.0.0' else {'Bucket': {'Type': 'AWS::S3::Bucket'}}"
    app = APP.replace('{"Queue": queue}', f'{{"Queue": queue}} | ({bucket})')
    (project / "app.py").write_text(f"from importlib.metadata import version\n{app}")

    report = trainshed("upgrade", "--to", ".", "--output", "found.json", "--output", "found.html")
    allowed = trainshed("upgrade", "--to", ".", "--fail-on", "jobs-killed", "--format", "json")

    assert (report.code, report.out) == (1, "")
    assert "\n--fail-on data-loss: OneCluster, Bucket: " in report.err
    assert (project / "found.html").read_text().startswith("<!doctype html>")
    assert json.loads((project / "found.json").read_text()) == allowed.json
    assert allowed.code == 0
    assert allowed.json["base"] == f"this project with trainshed {__version__}"
    assert allowed.json["head"] == "this project with trainshed 9.0.0"
    assert [(risk["kind"], risk["resource"]) for risk in allowed.json["risks"]] == [
        ("data-loss", "Bucket")
    ]
    [note] = allowed.json["notes"]
    assert note.startswith("both sides have the clusters as the installed trainshed reads them")


@pytest.mark.usefixtures("environment")
def test_an_app_that_the_other_version_cannot_run_is_an_error(
    trainshed: Command, project: Path
) -> None:
    write_wheel(project, "embedded-aws==4.5.6; extra == 'offline'")
    check = "from importlib.metadata import version\nassert version('trainshed') < '9', 'too new'"
    (project / "app.py").write_text(f"{check}\n{APP}")

    answer = trainshed("upgrade", "--to", ".")

    assert (answer.code, answer.out) == (1, "")
    assert "error: with trainshed 9.0.0 the app does not synthesise:\n" in answer.err
    assert answer.err.endswith("too new\n")


@pytest.mark.usefixtures("environment")
def test_the_embedded_aws_is_the_one_that_the_other_version_needs(
    trainshed: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(project, "embedded-aws==4.5.6; extra == 'offline'")
    monkeypatch.setenv("PIP_FIND_LINKS", str(project))

    answer = trainshed("upgrade", "--to", "9.0.0")

    assert "\n  pip install --no-deps trainshed==9.0.0 embedded-aws==4.5.6\n" in answer.err
    upgraded = (project / "build/upgrade/requirements.txt").read_text().splitlines()
    assert {"trainshed[ami,charts,offline]==9.0.0", "embedded-aws==4.5.6"} <= set(upgraded)


@pytest.mark.usefixtures("environment")
def test_a_version_that_does_not_say_which_embedded_aws_it_needs_is_refused(
    trainshed: Command, project: Path
) -> None:
    write_wheel(project, "embedded-aws; extra == 'offline'")

    answer = trainshed("upgrade", "--to", ".")

    assert answer.code == 2
    assert "trainshed 9.0.0 does not say which version of embedded-aws it needs" in answer.err


@pytest.mark.usefixtures("project", "environment")
def test_an_index_that_cannot_be_reached_is_reported_from_a_version_that_is_not_there(
    trainshed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")

    answer = trainshed("upgrade", "--to", "9.9.9")

    assert answer.code == 2
    assert "trainshed 9.9.9 cannot be installed: the package index cannot be" in answer.err


def test_the_app_gets_no_credentials_and_the_context_of_the_project(
    trainshed: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "cdk.json").write_text('{"app": "python3 app.py", "context": {"a": 1, "b": 1}}')
    (project / "cdk.context.json").write_text('{"b": 2}')
    (project / "app.py").write_text(
        "import json, os\njson.dump(dict(os.environ), open('seen.json', 'w'))\nraise SystemExit(1)"
    )
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    trainshed("upgrade", "--to", "9.9.9")

    seen = json.loads((project / "seen.json").read_text())
    assert not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "CDK_DEFAULT_ACCOUNT"} & set(seen)
    assert seen["CDK_DEFAULT_REGION"] == "eu-west-1"
    context = json.loads(seen["CDK_CONTEXT_JSON"])
    assert (context["a"], context["b"]) == (1, 2)


def test_pins_become_those_of_the_other_version_and_own_lines_stay(tmp_path: Path) -> None:
    (tmp_path / "runtime.txt").write_text("boto3==99.0 \\\n    --hash=sha256:0\n")
    (tmp_path / "dev.txt").write_text("pytest==99.1 \\\n    --hash=sha256:0\n")
    text = requirements_text().replace("boto3==", "Boto3==") + "# mine\nnumpy==2.5.1\n"

    lines = upgraded_requirements(text, tmp_path, "9.0.0", "embedded-aws==4.5.6").splitlines()

    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins == [
        *("trainshed[ami,charts,offline]==9.0.0", "embedded-aws==4.5.6"),
        *("boto3==99.0", "pytest==99.1", "numpy==2.5.1"),
    ]
    assert lines[-2:] == ["# mine", "numpy==2.5.1"]
