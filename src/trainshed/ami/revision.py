"""The commit that an AMI is baked from."""

import subprocess
from pathlib import Path

from trainshed import __version__
from trainshed.app.sources import checkout, shipped
from trainshed.errors import TrainshedError


def revision(folder: Path) -> str:
    """Return the commit of the working tree that a folder is in; `-dirty` when it was changed.

    Only changes within the folder count: nothing else is baked into an AMI.

    Returns:
        40 hex digits, with `-dirty` when the folder differs from them; `trainshed-` and the
        version for the folder of an installed wheel; `unknown` outside of a working tree.
    """
    # Before git is asked: an environment inside another repository would get that one's commit.
    if checkout() is None and folder.resolve() == shipped("packer").resolve():
        return f"trainshed-{__version__}"
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if commit is None:
        return "unknown"
    changes = _git(folder, "status", "--porcelain", "--", ".")
    return f"{commit}-dirty" if changes else commit


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise TrainshedError(f"git cannot be run: {error.strerror}; install git") from error
    return done.stdout.strip() if done.returncode == 0 else None
