"""Which engine is taken, and how it is called: programs of their names that write that down."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.containers.engine import find_engine
from trainshed.errors import Failure, UnknownName

PASSWORD = "the-password"
_RECORDS = """\
#!/bin/sh
echo "$(basename "$0") $*" >> "{log}"
[ "$1" = login ] && cat >> "{log}"
exit {code}
"""
_SILENT = "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def there(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make these, and no other, the engines on PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    for name in ("docker", "podman", "buildah"):
        # What the machine has must not be found.
        (tmp_path / name).write_text("")

    def put(*names: str, silent: tuple[str, ...] = (), code: int = 0) -> None:
        for name in ("docker", "podman", "buildah"):
            program = tmp_path / name
            program.write_text(_SILENT if name in silent else _RECORDS.format(log=log, code=code))
            program.chmod(0o755 if name in (*names, *silent) else 0o644)
        monkeypatch.setenv("PATH", str(tmp_path) + ":" + _only_tools(tmp_path))

    return put


def _only_tools(folder: Path) -> str:
    """A folder with what the recording programs call, so that no real engine is on PATH."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("basename", "cat"):
        link = tools / name
        if not link.exists():
            link.symlink_to(f"/usr/bin/{name}")
    return str(tools)


def calls(log: Path) -> list[str]:
    """How the engines were called, but for the question whether they are there."""
    lines = log.read_text().splitlines()
    return [line for line in lines if line.split()[1:2] != ["version"]]


@pytest.mark.parametrize(
    ("names", "silent", "taken"),
    [
        (("docker", "podman", "buildah"), (), "docker"),
        (("podman", "buildah"), (), "podman"),
        (("buildah",), (), "buildah"),
        (("buildah",), ("docker",), "buildah"),
    ],
)
def test_the_first_that_answers_is_taken(
    there: Callable[..., None], names: tuple[str, ...], silent: tuple[str, ...], taken: str
) -> None:
    there(*names, silent=silent)

    assert find_engine().name == taken


def test_a_named_engine_is_taken_before_others(there: Callable[..., None]) -> None:
    there("docker", "buildah")

    assert find_engine("buildah").name == "buildah"


@pytest.mark.parametrize(
    ("name", "silent", "message"),
    [
        (None, (), "no container engine is on PATH; install docker, podman or buildah"),
        ("podman", (), "podman is not on PATH; install it"),
        (None, ("docker",), "does not answer .Cannot connect to the Docker daemon.; start it"),
        ("docker", ("docker",), "docker is there but does not answer"),
    ],
)
def test_without_an_engine_the_message_says_what_to_do(
    there: Callable[..., None], name: str | None, silent: tuple[str, ...], message: str
) -> None:
    there(silent=silent)

    with pytest.raises(Failure, match=message):
        find_engine(name)


def test_an_unknown_engine_is_reported_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean podman"):
        find_engine("podmann")


@pytest.mark.parametrize("name", ["docker", "podman", "buildah"])
def test_a_build_gets_tag_arguments_and_context(
    there: Callable[..., None], log: Path, name: str, tmp_path: Path
) -> None:
    there(name)

    find_engine().build(
        tmp_path,
        image="train:v1",
        architecture="x86_64",
        arguments={"BASE": "debian:12", "A": "b c"},
    )

    assert calls(log) == [
        f"{name} build --platform linux/amd64 --tag train:v1 --build-arg BASE=debian:12 "
        f"--build-arg A=b c {tmp_path}"
    ]


def test_docker_gets_the_password_on_standard_input_only(
    there: Callable[..., None], log: Path
) -> None:
    there("docker")

    find_engine().push("train:v1", target="1.dkr/train:v1", password=PASSWORD)

    assert calls(log) == [
        "docker login --username AWS --password-stdin 1.dkr",
        f"{PASSWORD}docker tag train:v1 1.dkr/train:v1",
        "docker push 1.dkr/train:v1",
    ]


@pytest.mark.parametrize("name", ["podman", "buildah"])
@pytest.mark.parametrize(
    ("host", "plain"),
    [
        ("1.dkr", ""),
        ("localhost:5000", "--tls-verify=false "),
        ("127.0.0.1:5000", "--tls-verify=false "),
        ("[::1]:5000", "--tls-verify=false "),
        ("localhost.example.com:5000", ""),
    ],
)
def test_podman_and_buildah_forget_the_login_and_ask_for_tls_but_on_loopback(
    there: Callable[..., None], log: Path, name: str, host: str, plain: str
) -> None:
    there(name)

    find_engine().push("train:v1", target=f"{host}/train:v1", password=PASSWORD)

    login, push = calls(log)
    store = login.split("--authfile ")[1].split()[0]
    assert login == (
        f"{name} login --username AWS --password-stdin {plain}--authfile {store} {host}"
    )
    assert push == (
        f"{PASSWORD}{name} push {plain}--authfile {store} train:v1 docker://{host}/train:v1"
    )
    assert not Path(store).parent.exists()


def test_a_failure_names_the_step(there: Callable[..., None], tmp_path: Path) -> None:
    there("buildah")
    engine = find_engine()
    there("buildah", code=3)

    with pytest.raises(Failure, match="building train:v1 failed: buildah build ended with 3"):
        engine.build(tmp_path, image="train:v1", architecture="arm64", arguments={})
