"""Which cluster files a path or a glob selects."""

from glob import glob
from pathlib import Path

from trainshed.errors import TrainshedError


def cluster_files(pattern: str) -> list[Path]:
    """Return the files that a path or a glob names, sorted.

    Raises:
        TrainshedError: no file is there.
    """
    # Path.glob does not take an absolute pattern.
    found = sorted(Path(name) for name in glob(pattern, recursive=True))  # noqa: PTH207
    if not found:
        raise TrainshedError(
            f"clusters: {pattern!r} names no file in {Path.cwd()}; give a cluster file or a glob, "
            "for instance -c clusters=clusters/train.yaml"
        )
    return found
