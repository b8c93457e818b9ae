"""`trainshed review`: what a change does, for its reviewer, most dangerous first."""

import os
from dataclasses import asdict
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from trainshed.cli.output import print_json, say
from trainshed.cli.progress import progress
from trainshed.errors import TrainshedError
from trainshed.review.fail_on import failures, parse_fail_on
from trainshed.review.html import html_report
from trainshed.review.markdown import markdown_report
from trainshed.review.model import Review
from trainshed.review.redaction import redacted
from trainshed.review.reviewing import review_change

app = typer.Typer(add_completion=False)


class Format(StrEnum):
    """What a report is written in."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


_ENDINGS = {".html": Format.HTML, ".json": Format.JSON}


@app.command()
def review(
    base: Annotated[
        str, typer.Option(help="The branch that the change is for, or any commit.", metavar="REF")
    ] = "origin/main",
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Markdown for a comment, a page, or JSON for programs.",
            show_default="by the ending of a file, or else markdown",
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            help="Write the report into a file, .md, .html or .json; several times for several.",
            show_default="stdout",
            metavar="FILE",
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            help="What makes it exit with 1, for instance data-loss,high,cost>10%.",
            show_default="nothing",
            metavar="THRESHOLDS",
        ),
    ] = None,
) -> None:
    """Review what the files here change since their branch left another one.

    It compares the working tree, uncommitted changes included, with the commit at which the branch
    left the base. Both are synthesised by the installed trainshed, without credentials: risks, what
    is replaced and why, permissions, cost, quotas, findings, and a picture of each cluster.

    Exits with 1 when a threshold of --fail-on is met or the app here does not synthesise, and with
    2 when a cluster file or an option is wrong.
    """
    thresholds = parse_fail_on(fail_on) if fail_on is not None else None
    for file in outputs or ():
        if not file.parent.is_dir():
            raise TrainshedError(f"--output {file}: there is no folder {file.parent}; make it")
        if file.is_dir():
            raise TrainshedError(f"--output {file} is a folder; name a file in it")
    with progress() as step:
        try:
            found = redacted(review_change(Path(), base, step))
        except TrainshedError as error:
            # With what the app said; the log of a job is as public as a report. As one text,
            # because a private key has several lines.
            error.lines = tuple(redacted(str(error)).split("\n"))
            raise
    for file in outputs or ():
        _write(_report(found, form or _ENDINGS.get(file.suffix, Format.MARKDOWN)), file)
    if not outputs and form is Format.JSON:
        print_json(asdict(found))
    elif not outputs:
        say(*_report(found, form or Format.MARKDOWN).split("\n"))
    met = failures(found, thresholds) if thresholds else ()
    for line in met:
        say(f"--fail-on {line}", err=True)
    raise typer.Exit(bool(met))


def _report(found: Review, form: Format) -> str:
    match form:
        case Format.MARKDOWN:
            return markdown_report(found)
        case Format.HTML:
            return html_report(found)
        case Format.JSON:
            return dumps(asdict(found), indent=2, default=str)


def _write(text: str, output: Path) -> None:
    text = text.removesuffix("\n") + "\n"
    if output.exists() and not output.is_file():
        # A pipe, for instance.
        output.write_text(text, "utf-8")
        return
    # Whoever reads the file meanwhile has the old one or the new one.
    file = output.resolve()
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_text(text, "utf-8")
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
