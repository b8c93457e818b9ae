"""`trainshed lint`: judge templates and configurations that trainshed did not make."""

from pathlib import Path
from typing import Annotated

import typer

from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, say
from trainshed.cli.report import exit_if_failed, print_report
from trainshed.errors import TrainshedError
from trainshed.findings.sarif import sarif_log
from trainshed.lint.cluster_files.writing import cluster_file
from trainshed.lint.eksctl import EksctlCluster
from trainshed.lint.judging import lint_files
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import read_content
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
    group: Annotated[
        str | None,
        typer.Option(
            "--cluster-file",
            metavar="GROUP",
            help="Print the cluster file of trainshed for a node group of an eksctl file.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for GitHub and editors.")
    ] = False,
) -> None:
    """Judge CloudFormation templates, eksctl and ParallelCluster files by what they say alone.

    What a file does not decide is an info that says so. No account and no project is needed.

    With --cluster-file nothing is judged: the cluster file has a comment for all that is another
    way with trainshed.

    Exits with 1 when there is an error or a warning, and with 2 when a file cannot be read or is
    of none of these kinds; what is found in the others is still printed.
    """
    if as_json and as_sarif:
        raise TrainshedError("--json and --sarif exclude each other; leave one of them out")
    files = [*dict.fromkeys(files)]
    if group is not None:
        if as_json or as_sarif or accepted:
            raise TrainshedError(
                "--cluster-file judges nothing, and --json, --sarif and --findings are about "
                "findings; leave one of them out"
            )
        _print_cluster_file(files, group)
        return
    report = lint_files(files, read_findings_file(accepted) if accepted else None)
    if as_sarif:
        print_json(sarif_log(report.findings, (), Path()))
    elif as_json or len(report.unreadable) < len(files):
        print_report(report.findings, (), as_json)
    if report.unreadable:
        raise TrainshedError(*map(str, report.unreadable))
    exit_if_failed(report.findings, ())


def _print_cluster_file(files: list[Path], group: str) -> None:
    if len(files) > 1:
        raise TrainshedError("--cluster-file is for one file; name the eksctl file alone")
    documents = read_documents(read_content(files[0]))
    for cluster in documents:
        if not isinstance(cluster, EksctlCluster):
            raise TrainshedError(
                f"{files[0]} is a {cluster.kind}; --cluster-file is for an eksctl cluster file"
            )
        say(*cluster_file(cluster, group).splitlines())
