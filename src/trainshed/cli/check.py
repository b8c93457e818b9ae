"""`trainshed check`: why AWS would refuse a cluster, or its jobs would hang."""

from pathlib import Path
from typing import Annotated

import typer

from trainshed.checks import judge_fleet
from trainshed.checks.templates.checking import check_templates
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClustersOption,
    RegionOption,
    load_cluster,
    load_clusters,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json
from trainshed.cli.progress import progress
from trainshed.cli.report import exit_if_failed, print_report
from trainshed.errors import TrainshedError
from trainshed.findings.sarif import sarif_log
from trainshed.plan import Fleet

app = typer.Typer(add_completion=False)


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLUSTER]...",
            help="Names of clusters, or their files, with or without .yaml; without it, all.",
        ),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for GitHub and editors.")
    ] = False,
) -> None:
    """Judge clusters by what is known without an account; those that you name, together.

    Our own rules judge each cluster file; cdk-preflight, cdk-nag, CDK's own checks, cfn-lint and
    checkov judge the templates that the project here makes of them.

    Exits with 1 when there is an error or a warning that nobody accepts, or a tool fails, and with
    2 when a cluster file is wrong.
    """
    if as_json and as_sarif:
        raise TrainshedError("--json and --sarif exclude each other; leave one of them out")
    plans = (
        [load_cluster(name, clusters, region) for name in names]
        if names
        else load_clusters(clusters, region)
    )
    fleet = Fleet(clusters=tuple({plan.name: plan for plan in plans}.values()))
    with progress() as step:
        report = check_templates(fleet.clusters, Path(), region, step)
    findings = judge_fleet(fleet, report.findings, report.runs)
    if as_sarif:
        print_json(sarif_log(findings, report.runs, Path()))
    else:
        print_report(findings, report.runs, as_json)
    exit_if_failed(findings, report.runs)
