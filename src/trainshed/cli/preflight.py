"""`trainshed preflight`: what only the account knows of a cluster, before it is deployed."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from trainshed.checks.templates.checking import check_templates
from trainshed.cli.cluster import ALL_CLUSTERS, ClustersOption, RegionOption, load_cluster
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json
from trainshed.cli.progress import progress
from trainshed.cli.report import exit_if_failed, print_report
from trainshed.preflight import (
    SharedAnswers,
    Subject,
    judge_with_account,
    read_only_policy,
    require_credentials,
)

app = typer.Typer(add_completion=False)


@app.command()
def preflight(
    name: Annotated[
        str,
        typer.Argument(metavar="CLUSTER", help="Name of a cluster, or its file."),
    ],
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
    print_policy: Annotated[
        bool,
        typer.Option(
            "--print-policy",
            help="Print the IAM policy that the questions need, and ask nothing.",
        ),
    ] = False,
) -> None:
    """Judge a cluster by what its account says, too: nothing is created or changed.

    The report is that of `trainshed check`, and what only the account knows.

    Exits with 1 when there is an error or a warning that nobody accepts, or a tool fails, and with
    2 when the cluster file or the credentials are wrong.
    """
    plan = load_cluster(name, clusters, region)
    subject = Subject(plan=plan, aws=SharedAnswers(plan.region), now=datetime.now(UTC))
    if print_policy:
        print_json(read_only_policy(subject))
        return
    require_credentials(subject)
    with progress() as show:
        report = check_templates([plan], Path(), region, show)
        stack = report.stacks.get(plan.name)
        known = replace(subject, template=stack.template if stack else None)
        findings = judge_with_account(known, report.findings, report.runs, show)
    print_report(findings, report.runs, as_json)
    exit_if_failed(findings, report.runs)
