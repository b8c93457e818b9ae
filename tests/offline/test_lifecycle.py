"""Up, down, and what can go wrong between them."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from trainshed.errors import TrainshedError
from trainshed.offline.lifecycle import Project
from trainshed.offline.process import ServerError, start
from trainshed.offline.settings import OfflineSettings


def answers(endpoint: str) -> bool:
    try:
        with urlopen(f"{endpoint}/_trainshed/status") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_up_answers_and_down_ends_it(project: Project) -> None:
    running, new = project.up(OfflineSettings())
    assert new
    assert answers(running.endpoint)

    ended = project.down()

    assert ended == running
    assert not answers(running.endpoint)
    assert project.remembered() is None


def test_up_twice_is_one_process(project: Project) -> None:
    first, _ = project.up(OfflineSettings())

    second, new = project.up(OfflineSettings())

    assert not new
    assert second == first


def test_up_with_other_settings_says_what_runs(project: Project) -> None:
    project.up(OfflineSettings())

    with pytest.raises(ServerError, match=r"other settings is running.*trainshed offline down"):
        project.up(OfflineSettings(accounts=("210987654321",)))


def test_down_without_up_is_no_error(project: Project) -> None:
    assert project.down() is None


def test_a_process_that_crashed_is_not_running(project: Project) -> None:
    running, _ = project.up(OfflineSettings())
    psutil.Process(running.pid).send_signal(signal.SIGKILL)
    psutil.wait_procs([psutil.Process(running.pid)])

    assert project.running() is None
    assert project.remembered() == running
    again, new = project.up(OfflineSettings())
    assert new
    assert answers(again.endpoint)


def test_a_process_id_given_to_another_process_is_left_alone(project: Project) -> None:
    project.up(OfflineSettings())
    file = project.state / "server.json"
    state = json.loads(file.read_text())
    project.down()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        file.write_text(json.dumps(state | {"pid": other.pid}))

        assert project.running() is None
        assert project.down() is None

        assert other.poll() is None
        other.communicate(b"\n")
    assert other.returncode == 0


def test_a_port_in_use_is_told_with_its_holder(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ServerError, match=rf"port {port} is in use by .*{os.getpid()}"):
            project.up(OfflineSettings(port=port))


def test_a_port_in_use_is_told_by_the_server_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ServerError, match=rf"did not start: port {port} is in use; its log is"):
            start(OfflineSettings(port=port), log=tmp_path / "server.log")


def test_a_chosen_port_is_used(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]

    running, _ = project.up(OfflineSettings(port=port))

    assert running.settings.port == port
    assert answers(f"http://localhost:{port}")


def test_it_listens_on_loopback_only(project: Project) -> None:
    running, _ = project.up(OfflineSettings())

    addresses = {
        connection.laddr.ip
        for connection in psutil.Process(running.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    }

    assert "127.0.0.1" in addresses
    assert addresses <= {"127.0.0.1", "::1"}


def test_the_state_is_private_and_out_of_version_control(project: Project) -> None:
    project.up(OfflineSettings())

    assert project.state.stat().st_mode & 0o777 == 0o700
    assert project.state.parent.stat().st_mode & 0o777 == 0o700
    assert (project.state.parent / ".gitignore").read_text() == "*\n"


def test_a_damaged_state_file_is_named(project: Project) -> None:
    (project.state / "server.json").write_text("{")

    with pytest.raises(TrainshedError, match=r"server\.json cannot be read .* delete it"):
        project.running()
    (project.state / "server.json").unlink()


def test_a_directory_without_write_access_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(TrainshedError, match="cannot write to"):
        Project(tmp_path / "file").up(OfflineSettings())


def test_a_start_that_fails_tells_the_real_reason_and_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A package that shadows moto's and breaks on import.
    (tmp_path / "moto.py").write_text("raise ImportError('moto is broken here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(ServerError, match=r"moto is broken here; its log is .*server\.log"):
        start(OfflineSettings(), log=tmp_path / "server.log")
