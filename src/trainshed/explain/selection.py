"""Which file describes the cluster that the user names."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from trainshed.errors import TrainshedError, UnknownName
from trainshed.plan.sharing import duplicate_names
from trainshed.spec import SpecError, read_spec


def is_path(name: str) -> bool:
    """Return whether a cluster is named by the path of its file."""
    return Path(name).suffix in (".yaml", ".yml")


def cluster_file(name: str, files: Sequence[Path]) -> Path:
    """Return the file of a cluster.

    Args:
        name: path of a file, name of a cluster (`TrainCluster`), or a file's name without its
            ending (`train`).
        files: where to look for names.

    Raises:
        TrainshedError: no file and no cluster is called so, or several are. The message says what
            keeps the names of files from being read, and then the nearest name.
    """
    if is_path(name):
        return Path(name)
    # A faulty file still has its say when it is the one that is asked for.
    by_stem = [path for path in files if path.stem == name]
    readings = {} if by_stem else {path: read_spec(path) for path in files}
    names = {path: reading.spec.name for path, reading in readings.items() if reading.spec}
    found = by_stem or [path for path, known in names.items() if known == name]
    if not found:
        unknown = UnknownName("cluster", name, names.values(), other=(path.stem for path in files))
        nameless = (reading.problems for reading in readings.values() if not reading.spec)
        raise TrainshedError(*map(str, chain.from_iterable(nameless)), *unknown.lines)
    if len(found) > 1:
        raise TrainshedError(
            f"cluster {name!r} is in several files, {', '.join(map(str, found))}; give each "
            "cluster a name of its own"
        )
    return found[0]


def refuse_duplicates(path: Path, files: Sequence[Path]) -> None:
    """Refuse a cluster whose name, or what follows from it, is that of another one.

    Args:
        path: file of the cluster.
        files: those of all clusters; when the file is not among them, it stands alone.

    Raises:
        SpecError: as a deployment of all of the files would.
    """
    there = [other for other in files if other.resolve() != path.resolve()]
    spec = read_spec(path).spec
    if spec is None or len(there) == len(files):
        return
    others = [other for file in there if (other := read_spec(file).spec)]
    problems = [
        problem
        for problem in duplicate_names((*others, spec))
        if problem.where.file == spec.where.file
    ]
    if problems:
        raise SpecError(problems)
