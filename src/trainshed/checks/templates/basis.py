"""What the answer of a tool depends on besides the templates that it judges."""

import os
from collections.abc import Iterable
from pathlib import Path


def distributions(folders: Iterable[Path]) -> list[str]:
    """Return the Python packages that are installed in some folders, with their versions."""
    return sorted({found.name for folder in folders for found in folder.glob("*.dist-info")})


def settings(files: Iterable[str], variables: tuple[str, ...] = ()) -> list[str]:
    """Return what a user has set for all projects.

    Args:
        files: names of files in the user's home folder.
        variables: how the names of environment variables begin.
    """
    paths = (Path.home() / name for name in files)
    contents = [path.read_text(errors="replace") for path in paths if path.is_file()]
    chosen = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(variables)]
    return [*contents, *sorted(chosen)]
