"""Up, down, and what can go wrong between them."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from embedded_aws.controls import STATUS_PATH
from embedded_aws.errors import EmbeddedAwsError, ServerError
from embedded_aws.lifecycle import Project, Running
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings


def answers(settings: ServerSettings) -> bool:
    try:
        return bool(settings.controls.get(STATUS_PATH))
    except OSError:
        return False


@pytest.fixture(scope="module")
def chosen_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def project_up(tmp_path_factory: pytest.TempPathFactory, chosen_port: int) -> Iterator[Project]:
    """A directory whose embedded AWS is up; tests only look at it."""
    project = Project(tmp_path_factory.mktemp("up"))
    project.up(ServerSettings(port=chosen_port))
    yield project
    project.down()


@pytest.fixture
def running(project_up: Project) -> Running:
    running = project_up.running()
    assert running
    return running


def test_it_answers_at_the_chosen_port(running: Running, chosen_port: int) -> None:
    assert running.settings.port == chosen_port
    assert answers(running.settings)


def test_it_is_the_same_process_when_the_clock_of_the_machine_is_set(
    project_up: Project, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = psutil.Process(running.pid).create_time()
    monkeypatch.setattr(psutil.Process, "create_time", lambda _: began + 67)

    assert project_up.running() == running


def test_up_twice_is_one_process(project_up: Project, running: Running) -> None:
    second, new = project_up.up(ServerSettings())

    assert not new
    assert second == running


def test_up_with_other_settings_says_what_runs(project_up: Project, running: Running) -> None:
    with pytest.raises(ServerError, match="other settings is already running") as refused:
        project_up.up(ServerSettings(accounts=("210987654321",)))

    assert str(refused.value).endswith(
        "(accounts 123456789012; regions us-west-2; as of today; registry none; guests no; "
        "kubernetes no; jobs on loopback no; job speed 1); stop it first: embedded-aws down"
    )


def test_it_listens_on_loopback_only(running: Running) -> None:
    addresses = {
        connection.laddr.ip
        for connection in psutil.Process(running.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    }

    assert "127.0.0.1" in addresses
    assert addresses <= {"127.0.0.1", "::1"}


def test_the_state_is_private_and_out_of_version_control(project_up: Project) -> None:
    assert project_up.state.stat().st_mode & 0o777 == 0o700
    assert (project_up.state / ".gitignore").read_text() == "*\n"


def test_a_process_id_given_to_another_process_is_left_alone(
    project: Project, project_up: Project
) -> None:
    state = json.loads((project_up.state / "server.json").read_text())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (project.state / "server.json").write_text(json.dumps(state | {"pid": other.pid}))

        assert project.running() is None
        assert project.down() is None

        assert other.poll() is None
        other.communicate(b"\n")
    assert other.returncode == 0


def test_a_crash_leaves_nothing_behind_and_up_starts_another_which_down_ends(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    crashed, _ = project.up(ServerSettings())
    process = psutil.Process(crashed.pid)
    serving = process.children()
    assert list(folder.iterdir())

    process.kill()

    _, alive = psutil.wait_procs([process, *serving], timeout=120)
    assert alive == []
    assert list(folder.iterdir()) == []
    assert project.running() is None
    assert project.remembered() == crashed

    again, new = project.up(ServerSettings())
    assert new
    assert answers(again.settings)

    assert project.down() == again
    assert not answers(again.settings)
    assert project.remembered() is None


def test_a_crash_of_the_serving_process_ends_the_whole(project: Project) -> None:
    running, _ = project.up(ServerSettings())
    process = psutil.Process(running.pid)
    [serving] = [child for child in process.children() if child.net_connections()]

    serving.kill()

    psutil.wait_procs([process], timeout=120)
    assert project.running() is None


def test_down_without_up_is_no_error(project: Project) -> None:
    assert project.down() is None


def test_a_port_in_use_is_reported_with_its_holder(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ServerError, match=rf"port {port} is in use by .*{os.getpid()}"):
            project.up(ServerSettings(port=port))


def test_a_port_in_use_is_reported_by_the_server_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ServerError, match=rf"did not start: port {port} is in use; its log is"):
            start(ServerSettings(port=port), log=tmp_path / "server.log")


def test_a_damaged_state_file_is_named(project: Project) -> None:
    (project.state / "server.json").write_text("{")

    with pytest.raises(EmbeddedAwsError, match=r"server\.json cannot be read .* delete it"):
        project.running()
    (project.state / "server.json").unlink()


def test_a_directory_without_write_access_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(EmbeddedAwsError, match="cannot write to"):
        Project(tmp_path / "file").up(ServerSettings())


def test_a_start_that_fails_gives_the_real_reason_and_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A package that shadows moto's and breaks on import.
    (tmp_path / "moto.py").write_text("raise ImportError('moto is broken here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(ServerError, match=r"moto is broken here; its log is .*server\.log"):
        start(ServerSettings(), log=tmp_path / "server.log")
