"""The project that is rehearsed, whose app takes no seconds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.plan import Fleet, load_fleet

ROOT = Path(__file__).parents[2]
APP = """
import os, shutil
shutil.copytree({!r}, os.environ["CDK_OUTDIR"], dirs_exist_ok=True)
"""


@pytest.fixture(scope="session")
def project(synthesise: Callable[[Fleet], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped clusters and examples, and an app that copies what `app.py` makes of them."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("clusters", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    assembly = synthesise(load_fleet(sorted((ROOT / "clusters").glob("*.yaml"))))
    (folder / "app.py").write_text(APP.format(str(assembly)))
    (folder / "cdk.json").write_text('{"app": "python3 app.py"}')
    return folder
