"""Which cluster a command is about: the options that say so, and the plan that they lead to."""

import os
from pathlib import Path
from typing import Annotated

import typer

from trainshed.catalogue import known_region
from trainshed.cli.options import region_option
from trainshed.errors import TrainshedError
from trainshed.explain import cluster_file, is_path, refuse_duplicates
from trainshed.plan import ClusterPlan, load_fleet
from trainshed.region import environment_region
from trainshed.spec import cluster_files

ClusterArgument = Annotated[str, typer.Argument(help="Name of a cluster, or its file.")]
ClustersOption = Annotated[
    str, typer.Option("--clusters", "-c", help="Cluster file, or a glob for several.")
]
ALL_CLUSTERS = "clusters/*.yaml"
_OPTION = "--clusters "
RegionOption = Annotated[
    str | None, region_option("AWS region of clusters that do not name theirs.")
]


def load_clusters(clusters: str, region: str | None) -> tuple[ClusterPlan, ...]:
    """Plan every cluster of a file or a glob; the arguments are those of the options above.

    Raises:
        TrainshedError: there is no such file, or something is wrong in one.
    """
    return _load(cluster_files(clusters, _OPTION), region)


def load_cluster(cluster: str, clusters: str, region: str | None) -> ClusterPlan:
    """Plan one cluster, named by its name or by its file.

    Raises:
        TrainshedError: there is no such cluster, or something is wrong in its file, or another
            cluster of the files has its name.
    """
    try:
        files = cluster_files(clusters, _OPTION)
    except TrainshedError:
        if not is_path(cluster):
            raise
        files = []
    path = cluster_file(cluster, files)
    refuse_duplicates(path, files)
    (plan,) = _load([path], region)
    return plan


def cluster_words(cluster: str, clusters: str, region: str | None) -> tuple[str, ...]:
    """Return the words by which other commands find the same cluster: its name, and the options."""
    files = () if clusters == ALL_CLUSTERS else ("--clusters", clusters)
    return (cluster, *files, *(("--region", region) if region else ()))


def _load(files: list[Path], region: str | None) -> tuple[ClusterPlan, ...]:
    # Wrong also where each file names its own.
    if region is not None:
        known_region(region)
    return load_fleet(files, region=region or environment_region(os.environ)).clusters
