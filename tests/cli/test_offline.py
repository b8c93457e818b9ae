"""`trainshed offline`, as it is typed."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from trainshed.cli import main
from trainshed.offline.lifecycle import Project
from trainshed.offline.settings import OfflineSettings

Call = Callable[..., int]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    """Type a command; return its exit code."""

    def call(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["trainshed", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return call


@pytest.fixture
def nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is one without an embedded AWS."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = Project(tmp_path_factory.mktemp("project"))
    project.up(OfflineSettings())
    yield project
    project.down()


@pytest.fixture
def endpoint(project: Project, monkeypatch: pytest.MonkeyPatch) -> str:
    """The working directory has an embedded AWS at this endpoint."""
    monkeypatch.chdir(project.directory)
    running = project.running()
    assert running
    return running.endpoint


def test_up_again_says_where_it_is(
    call: Call, endpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "up") == 0

    assert f"is up already at {endpoint}" in capsys.readouterr().out


def test_up_with_another_month_is_a_failure_that_says_what_to_do(
    call: Call, endpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "up", "--as-of", "2026-06") == 1

    assert "trainshed offline down" in capsys.readouterr().err


def test_status_is_a_table_or_json(
    call: Call, endpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "status") == 0
    assert endpoint in capsys.readouterr().out

    assert call("offline", "status", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert status["state"] == "running"
    assert status["endpoint"] == endpoint
    assert status["accounts"] == ["123456789012"]


def test_status_of_nothing_exits_with_1(
    call: Call, nothing_up: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "status", "--json") == 1

    assert json.loads(capsys.readouterr().out) == {"state": "down"}


def test_env_can_be_evaluated_by_a_shell(
    call: Call, endpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "env") == 0
    lines = capsys.readouterr().out

    shell = subprocess.run(
        ["sh", "-uc", f'{lines}\necho "$AWS_ENDPOINT_URL $CDK_DEFAULT_REGION ${{AWS_PROFILE-}}"'],
        env={"AWS_PROFILE": "production"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert shell.stdout == f"{endpoint} us-west-2 \n"


def test_env_as_json_has_null_for_what_is_unset(
    call: Call, endpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "env", "--json") == 0

    variables = json.loads(capsys.readouterr().out)
    assert variables["AWS_ENDPOINT_URL"] == endpoint
    assert variables["AWS_PROFILE"] is None


def test_env_of_nothing_says_how_to_start(
    call: Call, nothing_up: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "env") == 1

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "trainshed offline up" in captured.err


def test_down_of_nothing_is_clean(
    call: Call, nothing_up: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("offline", "down") == 0

    assert "no embedded AWS was up" in capsys.readouterr().out


def test_down_tells_of_a_crash(
    call: Call, project: Project, nothing_up: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = json.loads((project.state / "server.json").read_text())
    crashed = Project(nothing_up).state / "server.json"
    crashed.write_text(json.dumps(state | {"started": 0.0}))

    assert call("offline", "down") == 0

    assert f"ended by itself (process {state['pid']})" in capsys.readouterr().out
    assert not crashed.exists()


def test_types_names_who_makes_each(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("offline", "types", "--json") == 0

    made_by = {row["type"]: row["made_by"] for row in json.loads(capsys.readouterr().out)}
    assert made_by["AWS::EC2::PlacementGroup"] == "trainshed"
    assert made_by["AWS::SQS::Queue"] == "moto"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["up", "--region", "us-wst-2"], "did you mean us-west-2", id="region"),
        pytest.param(["up", "--account", "12"], "account id of 12 digits", id="account"),
        pytest.param(["up", "--as-of", "June"], "write it as YYYY-MM", id="as-of"),
        pytest.param(["up", "--port", "web"], "--port", id="port-not-a-number"),
        pytest.param(["up", "--prot", "1"], "--prot", id="unknown-option"),
        pytest.param(["typs"], "did you mean 'types'", id="unknown-command"),
        pytest.param([], "trainshed offline --help", id="no-command"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    call: Call,
    nothing_up: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    assert call("offline", *words) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert message.lower() in captured.err.lower()


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.argv = ['trainshed', 'offline', 'up']; sys.modules['psutil'] = None\n"
        "from trainshed.cli import main; main()"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert shown.returncode == 2
    assert shown.stderr == (
        "error: trainshed offline needs the package psutil; "
        "install it: pip install 'trainshed[offline]'\n"
    )


def test_help_loads_no_group() -> None:
    code = (
        "import sys; sys.argv = ['trainshed', '--help']\n"
        "from trainshed.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('trainshed.')])"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "offline" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "['trainshed.errors', 'trainshed.cli']"
