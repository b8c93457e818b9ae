"""Nothing of a guest outlives the embedded AWS it belongs to, however that ends."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from guest_bench import AMAZON, UBUNTU, Bench, Guest, make_bench

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.guests import GuestSettings, guests_unavailable
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

_PATIENCE_SECONDS = 120


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """An embedded AWS of the test's own, with two guests on their way up."""
    if reason := guests_unavailable():
        pytest.skip(reason)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = start(ServerSettings(machines=GuestSettings()), log=tmp_path / "server.log")
    bench = make_bench(EmbeddedAws(server), tmp_path)
    for name in (UBUNTU, AMAZON):
        _wait_for_processes(bench.launch(bench.image_id(name)))
    return bench


def test_a_reset_ends_the_guests_and_so_does_the_end(own: Bench, tmp_path: Path) -> None:
    before = _guests(tmp_path)

    own.aws.reset()

    _assert_nothing_left(tmp_path, before)
    again = make_bench(own.aws, tmp_path)
    again.launch(again.image_id(UBUNTU)).wait_for_ssh()
    before = _guests(tmp_path)
    own.aws.server.stop()
    _assert_nothing_left(tmp_path, before, patience=0)


@pytest.mark.parametrize(
    "who",
    [
        pytest.param(lambda server: [server], id="the server"),
        pytest.param(lambda server: [server, *server.children()], id="all of it"),
    ],
)
def test_a_killed_server_leaves_no_guest(
    own: Bench, tmp_path: Path, who: Callable[[psutil.Process], list[psutil.Process]]
) -> None:
    before = _guests(tmp_path)
    victims = who(psutil.Process(own.aws.server.process.pid))

    for victim in victims:
        victim.send_signal(signal.SIGKILL)

    _assert_nothing_left(tmp_path, before)
    own.aws.server.stop()


def _wait_for_processes(guest: Guest) -> None:
    guest.wait_for("a first process", lambda: bool(_inside(guest.instance_id)))


def _inside(instance_id: str) -> list[psutil.Process]:
    """Return the processes of a guest."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        if process.info["name"] == "systemd-nspawn" and f"--machine={instance_id}" in (
            process.info["cmdline"] or ()
        ):
            # It may end while it is looked at.
            with suppress(psutil.NoSuchProcess):
                found += process.children(recursive=True)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What there is of a server's guests outside of its folder."""

    processes: list[psutil.Process]
    control_groups: list[Path]


def _guests(folder: Path) -> Present:
    """Return what a server with this temporary folder has of guests."""
    ids = [path.name for path in folder.glob("embedded-aws-*/guests-*/i-*")]
    present = Present(
        processes=[process for instance_id in ids for process in _inside(instance_id)],
        control_groups=[
            Path(path)
            for path, _, _ in os.walk("/sys/fs/cgroup")
            if any(instance_id == Path(path).name for instance_id in ids)
        ],
    )
    assert present.processes
    assert present.control_groups
    return present


def _assert_nothing_left(
    folder: Path, before: Present, *, patience: float = _PATIENCE_SECONDS
) -> None:
    deadline = time.monotonic() + patience
    while left := [
        *(str(path) for path in folder.glob("embedded-aws-*/guests-*")),
        *(str(process) for process in before.processes if process.is_running()),
        *(str(group.parent) for group in before.control_groups if group.parent.exists()),
        *_mounts(folder),
    ]:
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.05)


def _mounts(folder: Path) -> list[str]:
    """Return the mounts below a folder in every mount namespace of this machine."""
    found = []
    for pid in psutil.pids():
        try:
            lines = Path(f"/proc/{pid}/mounts").read_text().splitlines()
        except OSError:
            continue
        found += [line for line in lines if str(folder) in line]
    return found
