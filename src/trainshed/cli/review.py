"""`trainshed review`: what a change does, for its reviewer, most dangerous first."""

from pathlib import Path
from typing import Annotated

import typer

from trainshed.cli.review_report import FailOnOption, FormatOption, OutputOption, Report, reviewing
from trainshed.review.redaction import redacted
from trainshed.review.reviewing import review_change

app = typer.Typer(add_completion=False)


@app.command()
def review(
    base: Annotated[
        str, typer.Option(help="The branch that the change is for, or any commit.", metavar="REF")
    ] = "origin/main",
    form: FormatOption = None,
    outputs: OutputOption = None,
    fail_on: FailOnOption = None,
) -> None:
    """Review what the files here change, compared with where their branch left another one.

    It compares the working tree, uncommitted changes included, with the commit at which the branch
    left the base. Both are synthesised by the installed trainshed, without credentials: risks, what
    is replaced and why, permissions, cost, quotas, findings, and a picture of each cluster.

    Exits with 1 when a threshold of --fail-on is met or the app here does not synthesise, and with
    2 when a cluster file or an option is wrong.
    """
    report = Report(form=form, outputs=outputs or (), fail_on=fail_on)
    with reviewing() as step:
        found = redacted(review_change(Path(), base, step))
    raise typer.Exit(report.write(found))
