"""Which cluster a command is about: the options that say so, and the plan that they lead to."""

import os
from pathlib import Path
from typing import Annotated

import typer

from trainshed.explain import cluster_file
from trainshed.plan import ClusterPlan, load_fleet
from trainshed.spec import cluster_files

ClustersOption = Annotated[
    str, typer.Option("--clusters", "-c", help="Cluster file, or a glob for several.")
]
ALL_CLUSTERS = "clusters/*.yaml"
RegionOption = Annotated[
    str | None,
    typer.Option(
        help="AWS region of clusters that do not name theirs.",
        show_default="AWS_REGION, AWS_DEFAULT_REGION",
        metavar="REGION",
    ),
]


def load_clusters(clusters: str, region: str | None) -> tuple[ClusterPlan, ...]:
    """Plan every cluster of a file or a glob; the arguments are those of the options above.

    Raises:
        TrainshedError: there is no such file, or something is wrong in one.
    """
    return _load(cluster_files(clusters), region)


def load_cluster(cluster: str, clusters: str, region: str | None) -> ClusterPlan:
    """Plan one cluster, named by its name or by its file.

    Raises:
        TrainshedError: there is no such cluster, or something is wrong in its file.
    """
    is_path = Path(cluster).suffix in (".yaml", ".yml")
    path = cluster_file(cluster, [] if is_path else cluster_files(clusters))
    (plan,) = _load([path], region)
    return plan


def _load(files: list[Path], region: str | None) -> tuple[ClusterPlan, ...]:
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return load_fleet(files, region=region).clusters
