"""Which files the context selects."""

from glob import glob
from pathlib import Path

from trainshed.app.sources import checkout
from trainshed.errors import TrainshedError

_HERE = Path()


def cluster_files(pattern: object, option: str, folder: Path = _HERE) -> list[Path]:
    """Return the files that a path or a glob names, sorted.

    Args:
        pattern: the path or glob; whatever else a context may hold is refused.
        option: what gives it, up to the value, as messages show it: `--clusters `.
        folder: what a relative path starts from; by default the working directory.

    Raises:
        TrainshedError: no file is there.
    """
    if not isinstance(pattern, str) or not pattern:
        raise TrainshedError(f"clusters: {pattern!r} is not a path or a glob; {_example(option)}")
    # Path.glob does not take an absolute pattern.
    names = glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207
    found = sorted(folder / name for name in names)
    if not found:
        raise TrainshedError(
            f"clusters: {pattern!r} names no file in {folder.resolve()}; {_example(option)}"
        )
    return found


def _example(option: str) -> str:
    """Say how to name files, with some that exist wherever the command is run."""
    there = f"'{found / 'clusters'}/*.yaml'" if (found := checkout()) else "FILE"
    return f"name a cluster file, or several by a glob: {option}{there}"


def ami_pipeline_file(named: object, folder: Path = _HERE) -> Path | None:
    """Return the file of the AMI pipeline: the one named, or else ami-pipeline.yaml if any.

    Args:
        named: the path; None when none is named; whatever else a context may hold is refused.
        folder: what a relative path starts from; by default the working directory.

    Raises:
        TrainshedError: it is not a path.
    """
    if named is None:
        usual = folder / "ami-pipeline.yaml"
        return usual if usual.exists() else None
    if not isinstance(named, str) or not named:
        raise TrainshedError(
            f"ami_pipeline: {named!r} is not a path; give one, for instance "
            "-c ami_pipeline=ami-pipeline.yaml"
        )
    return folder / named
