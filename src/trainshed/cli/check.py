"""`trainshed check`: why AWS would refuse a cluster, or its jobs would hang."""

from dataclasses import asdict
from typing import Annotated

import typer

from trainshed.checks import judge
from trainshed.checks.text import finding_text
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClustersOption,
    RegionOption,
    load_cluster,
    load_clusters,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json
from trainshed.plan import Fleet

app = typer.Typer(add_completion=False)


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLUSTER]...",
            help="Names of clusters, or their files, with or without .yaml; without it, all.",
            show_default=False,
        ),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge clusters by what is known without an account; those named, together.

    Exits with 1 when there is an error or a warning that the cluster file does not accept, with 2
    when a cluster file is wrong.
    """
    plans = (
        [load_cluster(name, clusters, region) for name in names]
        if names
        else load_clusters(clusters, region)
    )
    fleet = Fleet(clusters=tuple({plan.spec.name: plan for plan in plans}.values()))
    findings = [finding for plan in fleet.clusters for finding in judge(plan, fleet)]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            typer.echo(finding_text(finding))
    if any(finding.fails for finding in findings):
        raise typer.Exit(1)
