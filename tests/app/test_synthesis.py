"""The app of a project, run."""

import tempfile
from pathlib import Path

import pytest

from trainshed.app.synthesis import read_app, synthesise
from trainshed.errors import TrainshedError


def test_what_a_stopped_app_leaves_in_its_temporary_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "cdk.json").write_text('{"app": "python3 app.py"}')
    (tmp_path / "app.py").write_text(
        "import os, tempfile\nprint(tempfile.mkdtemp(), file=os.sys.stderr)\nos._exit(1)\n"
    )

    with pytest.raises(TrainshedError, match=str(temporary)):
        synthesise(read_app(tmp_path), tmp_path / "assembly")

    assert list(temporary.iterdir()) == []
