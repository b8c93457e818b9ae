"""`trainshed lint`: judge templates and configurations that trainshed did not make."""

from pathlib import Path
from typing import Annotated

import typer

from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json
from trainshed.cli.report import exit_if_failed, print_report
from trainshed.errors import TrainshedError
from trainshed.findings.sarif import sarif_log
from trainshed.lint.judging import lint_files
from trainshed.spec.reader import read_findings_file

app = typer.Typer(add_completion=False)


@app.command()
def lint(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="CloudFormation templates, eksctl cluster files, ParallelCluster configurations.",
        ),
    ],
    accepted: Annotated[
        Path | None,
        typer.Option(
            "--findings",
            metavar="FILE",
            help="YAML with what is accepted, under `findings` as in a cluster file.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for GitHub and editors.")
    ] = False,
) -> None:
    """Judge CloudFormation templates, eksctl and ParallelCluster files by what they say alone.

    What a file does not decide is an info that says so. No account and no project is needed.

    Exits with 1 when there is an error or a warning, and with 2 when a file cannot be read or is
    of none of these kinds; what is found in the others is still printed.
    """
    if as_json and as_sarif:
        raise TrainshedError("--json and --sarif exclude each other; leave one of them out")
    files = [*dict.fromkeys(files)]
    report = lint_files(files, read_findings_file(accepted) if accepted else None)
    if as_sarif:
        print_json(sarif_log(report.findings, (), Path()))
    elif as_json or len(report.unreadable) < len(files):
        print_report(report.findings, (), as_json)
    if report.unreadable:
        raise TrainshedError(*map(str, report.unreadable))
    exit_if_failed(report.findings, ())
