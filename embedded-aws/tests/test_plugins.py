"""Plug-ins of other packages, good and broken."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.plugins import plugins


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `theirs` on the path, whose entry point leads to `theirs:PLUGIN`."""
    facts = tmp_path / "theirs-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[embedded_aws]\ntheirs = theirs:PLUGIN\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    plugins.cache_clear()
    yield tmp_path
    plugins.cache_clear()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("import no_such_thing", "ModuleNotFoundError", id="import"),
        pytest.param("", "AttributeError", id="attribute"),
        pytest.param("PLUGIN = 1", "is a int; it has to be an object of a subclass", id="type"),
    ],
)
def test_a_broken_plug_in_is_named(package: Path, source: str, message: str) -> None:
    (package / "theirs.py").write_text(source)

    with pytest.raises(
        EmbeddedAwsError, match=r"the plug-in theirs of theirs \(theirs:PLUGIN\)"
    ) as told:
        plugins()

    assert message in str(told.value)


def test_no_server_starts_with_a_broken_plug_in(package: Path) -> None:
    (package / "theirs.py").write_text("import no_such_thing")

    done = subprocess.run(
        [Path(sys.executable).parent / "embedded-aws", "run", "--", "true"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 2
    assert done.stderr.startswith("error: the plug-in theirs of theirs (theirs:PLUGIN) cannot")
    assert done.stderr.count("\n") == 1
