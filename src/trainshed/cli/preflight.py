"""`trainshed preflight`: what only the account knows of a cluster, before it is deployed."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.checks import judge
from trainshed.checks.judging import as_owner_says
from trainshed.checks.text import accepted_lines, finding_text, summary
from trainshed.cli.cluster import ALL_CLUSTERS, ClustersOption, RegionOption, load_cluster
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json
from trainshed.cli.progress import progress
from trainshed.errors import UnknownName
from trainshed.preflight import SharedAnswers, Subject, ask_account, read_only_policy
from trainshed.synthesis import read_assembly

app = typer.Typer(add_completion=False)


@app.command()
def preflight(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CLUSTER", help="Name of a cluster, or its file.", show_default=False
        ),
    ],
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
    assembly: Annotated[
        Path | None,
        typer.Option(
            "--app",
            help="Cloud assembly that cdk synth wrote: try the launch by its template while the "
            "cluster is not deployed.",
            show_default=False,
            metavar="FOLDER",
        ),
    ] = None,
    print_policy: Annotated[
        bool,
        typer.Option(
            "--print-policy",
            help="Print the IAM policy that the questions need, and ask nothing.",
        ),
    ] = False,
) -> None:
    """Judge a cluster by what its account says: nothing is created or changed.

    Exits with 1 when there is an error or a warning that the cluster file does not accept, with 2
    when the cluster file or the credentials are wrong.
    """
    plan = load_cluster(name, clusters, region)
    subject = Subject(
        plan=plan,
        aws=SharedAnswers(plan.region),
        now=datetime.now(UTC),
        template=_template(assembly, plan.spec.name) if assembly else None,
    )
    if print_policy:
        print_json(read_only_policy(subject))
        return
    with progress() as show:
        found = ask_account(subject, show=show)
    findings = as_owner_says(plan.spec, (*judge(plan), *found))
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for line in accepted_lines(findings):
            typer.echo(line)
        for finding in findings:
            if not finding.accepted:
                typer.echo(finding_text(finding))
        typer.echo(summary(findings, ()))
    if any(finding.fails for finding in findings):
        raise typer.Exit(1)


def _template(assembly: Path, cluster: str) -> Mapping[str, Any]:
    """Return the template of a cluster's own stack.

    Raises:
        UnknownName: the assembly has no stack of the name.
    """
    stacks = read_assembly(assembly)
    if cluster not in stacks:
        raise UnknownName(f"stack in {assembly}", cluster, stacks)
    return stacks[cluster].template
