"""Write a new project into a folder that has none of its files."""

import shutil
from collections.abc import Iterable, Mapping
from os.path import lexists
from pathlib import Path

from trainshed.app.sources import shipped
from trainshed.errors import TrainshedError


class ProjectExists(TrainshedError):
    """Files of the project exist already; nothing was written.

    Args:
        folder: where they are.
        names: their paths in it.
    """

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        super().__init__(
            f"{folder} has {', '.join(names)} already; nothing was written: name another folder, "
            "or move them away"
        )


def write_project(folder: Path, files: Mapping[str, str], *, with_packer: bool) -> None:
    """Write a project.

    Args:
        folder: made when it is not there.
        files: text by path.
        with_packer: also copy packer/ and containers/, to be changed there.

    Raises:
        ProjectExists: one of these is there, or no folder where one is needed, or a link to one,
            through which we would write outside of the project; nothing was written.
        TrainshedError: the folder cannot be written.
    """
    copied = ("packer", "containers") if with_packer else ()
    # A dangling symlink is there too: writing would follow it.
    there = {name: None for name in (*files, *copied) if lexists(folder / name)}
    for parent in (parent for name in files for parent in Path(name).parents[:-1]):
        path = folder / parent
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            there[str(parent)] = None
    if there:
        raise ProjectExists(folder, there)
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name in copied:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(shipped(name), folder / name, ignore=ignored)
    except OSError as error:
        # copytree's own error has neither a file nor a reason, but a list of them as its text.
        where, why = error.filename or folder, error.strerror or error
        raise TrainshedError(f"{where} cannot be written: {why}") from error
