"""The package of the embedded AWS with other folders."""

import os
from pathlib import Path

import pytest

import embedded_aws


def make_package(root: Path, patch: pytest.MonkeyPatch, *, without: str = "") -> Path:
    """Return a package of links to the modules and folders, which new processes find first.

    Args:
        root: the folder for it.
        patch: sets PYTHONPATH.
        without: the folder that is left out.
    """
    package = root / "embedded_aws"
    package.mkdir()
    for each in Path(embedded_aws.__path__[0]).iterdir():
        if each.name != without:
            (package / each.name).symlink_to(each)
    path = filter(None, [str(root), os.environ.get("PYTHONPATH")])
    patch.setenv("PYTHONPATH", os.pathsep.join(path))
    return package
