"""Whether guests can be had, and what is said when they cannot."""

import platform
import shutil
from pathlib import Path

import pytest

from embedded_aws.errors import ServerError
from embedded_aws.guests import GuestSettings, guests_unavailable
from embedded_aws.guests.prepare import PrepareError, prepare
from embedded_aws.guests.recipe import FILES, STOCK_KERNELS, prepared
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has everything."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")


def with_roots(folder: Path) -> GuestSettings:
    prepared(folder).mkdir(parents=True)
    return GuestSettings(roots=folder)


@pytest.mark.usefixtures("able")
def test_a_prepared_machine_can(tmp_path: Path) -> None:
    assert guests_unavailable(with_roots(tmp_path).roots) is None


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize(
    ("target", "answer", "reason"),
    [
        ("os.geteuid", 1000, "guests need root: run this as root"),
        ("platform.system", "Darwin", "guests need Linux, and this is Darwin"),
        ("platform.machine", "aarch64", "guests need an x86_64 machine"),
        ("shutil.which", None, r"apt-get install mount systemd-container util-linux"),
    ],
)
def test_what_is_missing_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, answer: object, reason: str
) -> None:
    settings = with_roots(tmp_path)
    monkeypatch.setattr(target, lambda *_: answer)

    assert reason in str(guests_unavailable(settings.roots))
    with pytest.raises(PrepareError, match=reason):
        prepare(tmp_path, print)


@pytest.mark.usefixtures("able")
def test_roots_of_another_recipe_are_none(tmp_path: Path) -> None:
    (tmp_path / "0123456789ab").mkdir()

    reason = guests_unavailable(tmp_path)

    assert reason
    assert reason.endswith("embedded-aws guests prepare")


@pytest.mark.usefixtures("able")
def test_a_server_that_can_have_no_guests_does_not_start(tmp_path: Path) -> None:
    settings = ServerSettings(machines=GuestSettings(roots=tmp_path))

    with pytest.raises(ServerError, match="cannot run guests: there are no roots of this version"):
        start(settings, log=tmp_path / "server.log")


@pytest.mark.usefixtures("able")
def test_preparing_what_is_prepared_does_nothing(tmp_path: Path) -> None:
    steps: list[str] = []
    with_roots(tmp_path)

    assert not prepare(tmp_path, steps.append)
    assert steps == []


@pytest.mark.parametrize("root", sorted(STOCK_KERNELS))
def test_every_root_says_which_distribution_it_is(root: str) -> None:
    assert (FILES / root / "usr/lib/os-release").is_file()
