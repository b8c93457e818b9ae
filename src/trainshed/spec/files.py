"""Which files the context selects."""

from glob import glob
from pathlib import Path

from trainshed.errors import TrainshedError


def cluster_files(pattern: object) -> list[Path]:
    """Return the files that a path or a glob names, sorted.

    Args:
        pattern: the path or glob; whatever else a context may hold is refused.

    Raises:
        TrainshedError: no file is there.
    """
    if not isinstance(pattern, str) or not pattern:
        raise TrainshedError(
            f"clusters: {pattern!r} is not a path or a glob; give one, for instance "
            "-c clusters=clusters/train.yaml"
        )
    # Path.glob does not take an absolute pattern.
    found = sorted(Path(name) for name in glob(pattern, recursive=True))  # noqa: PTH207
    if not found:
        raise TrainshedError(
            f"clusters: {pattern!r} names no file in {Path.cwd()}; give a cluster file or a glob, "
            "for instance -c clusters=clusters/train.yaml"
        )
    return found


def image_pipeline_file(named: object) -> Path | None:
    """Return the file of the image pipeline: the one named, or else image-pipeline.yaml if any.

    Args:
        named: the path; None when none is named; whatever else a context may hold is refused.

    Raises:
        TrainshedError: it is no path.
    """
    if named is None:
        usual = Path("image-pipeline.yaml")
        return usual if usual.exists() else None
    if not isinstance(named, str) or not named:
        raise TrainshedError(
            f"image_pipeline: {named!r} is not a path; give one, for instance "
            "-c image_pipeline=image-pipeline.yaml"
        )
    return Path(named)
