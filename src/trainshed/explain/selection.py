"""Which file describes the cluster that somebody names."""

from collections.abc import Sequence
from pathlib import Path

from trainshed.errors import UnknownName
from trainshed.spec import read_spec


def cluster_file(name: str, files: Sequence[Path]) -> Path:
    """Return the file of a cluster.

    Args:
        name: path of a file, name of a cluster (`TrainCluster`), or a file's name without its
            ending (`train`).
        files: where to look for names.

    Raises:
        UnknownName: no file and no cluster is called so; the message names the nearest one.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        return Path(name)
    by_stem = {path.stem: path for path in files}
    if name in by_stem:
        return by_stem[name]
    # A faulty file still has its say when it is the one that is asked for.
    by_name = {spec.name: path for path in files if (spec := read_spec(path).spec)}
    if name not in by_name:
        raise UnknownName("cluster", name, (*by_stem, *by_name))
    return by_name[name]
