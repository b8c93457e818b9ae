"""`trainshed check`: why AWS would refuse a cluster, or its jobs would hang."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from trainshed.checks import judge
from trainshed.checks.sarif import sarif_log
from trainshed.checks.templates.checking import check_templates
from trainshed.checks.templates.model import State, ToolRun
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
from trainshed.cli.progress import progress
from trainshed.errors import TrainshedError
from trainshed.findings import Finding, Severity
from trainshed.plan import Fleet
from trainshed.stopping import stoppable

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
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for GitHub and editors.")
    ] = False,
) -> None:
    """Judge clusters by what is known without an account; those named, together.

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
    fleet = Fleet(clusters=tuple({plan.spec.name: plan for plan in plans}.values()))
    with stoppable(), progress() as step:
        report = check_templates(fleet.clusters, Path(), region, step)
    ours = [finding for plan in fleet.clusters for finding in judge(plan, fleet)]
    findings = [*ours, *report.findings]
    if as_json:
        print_json({"findings": [*map(asdict, findings)], "tools": [*map(_tool, report.runs)]})
    elif as_sarif:
        print_json(sarif_log(findings, report.runs, Path()))
    else:
        _print_text(findings, report.runs)
    if report.failed or any(finding.fails for finding in findings):
        raise typer.Exit(1)


def _tool(run: ToolRun) -> dict[str, object]:
    return {"tool": run.tool, "state": run.state, "reason": run.reason, "seconds": run.seconds}


def _print_text(findings: Sequence[Finding], runs: Iterable[ToolRun]) -> None:
    for finding in findings:
        if not finding.accepted:
            typer.echo(finding_text(finding))
    for line in _accepted_lines(findings):
        typer.echo(line)
    for run in runs:
        if run.state is State.FAILED:
            typer.echo(f"error: {run.tool} failed: {run.reason}")
    typer.echo(_summary(findings, runs))


def _accepted_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Say what is accepted, with how often: a line for each rule and reason."""

    def what(finding: Finding) -> tuple[str, str, str]:
        return finding.tool, finding.rule, finding.accepted or ""

    accepted = sorted((each for each in findings if each.accepted), key=what)
    for (tool, rule, reason), found in groupby(accepted, key=what):
        group = list(found)
        files = {each.place.file for each in group if each.place}
        where = f"{files.pop()}: " if len(files) == 1 else ""
        tool = "" if tool == "trainshed" else f" ({tool})"
        often = f", {len(group)} times" if len(group) > 1 else ""
        yield f"{where}accepted {rule}{tool}{often}: {reason}"


def _summary(findings: Iterable[Finding], runs: Iterable[ToolRun]) -> str:
    open_ones = [finding.severity for finding in findings if not finding.accepted]
    accepted = sum(1 for finding in findings if finding.accepted)
    counts = [
        _count(open_ones.count(severity), noun)
        for severity, noun in (
            (Severity.ERROR, "error"),
            (Severity.WARNING, "warning"),
            (Severity.INFO, "note"),
        )
    ]
    parts = [", ".join([*filter(None, counts), f"{accepted} accepted"])]
    idle = [run for run in runs if run.state is State.NOT_RUN]
    for reason, group in groupby(idle, key=lambda run: run.reason):
        parts.append(f"not run: {', '.join(run.tool for run in group)} ({reason})")
    return "; ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number or noun != "note" else ""
