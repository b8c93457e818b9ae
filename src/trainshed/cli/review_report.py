"""The report of a review: options that say where it goes, and in which form."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from trainshed.checks.templates.program import Step
from trainshed.cli.output import print_json, say
from trainshed.cli.progress import progress
from trainshed.errors import TrainshedError
from trainshed.review.fail_on import failures, parse_fail_on
from trainshed.review.html import html_report
from trainshed.review.markdown import markdown_report
from trainshed.review.model import Review
from trainshed.review.redaction import redacted


class Format(StrEnum):
    """What a report is written in."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


_ENDINGS = {".html": Format.HTML, ".json": Format.JSON}
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="Markdown for a comment, a page, or JSON for programs.",
        show_default="by the ending of a file, or else markdown",
    ),
]
OutputOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        help="Write the report into a file, .md, .html or .json; several times for several.",
        show_default="stdout",
        metavar="FILE",
    ),
]
FailOnOption = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        help="What makes it exit with 1, for instance data-loss,high,cost>10%.",
        metavar="THRESHOLDS",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Where the report of a review goes.

    Attributes:
        form: what it is written in; None for the ending of each file, or else Markdown.
        outputs: the files that it goes into; none for stdout.
        fail_on: thresholds, as `--fail-on` writes them; None for none.

    Raises:
        TrainshedError: a file cannot be written, or a threshold is not known.
    """

    form: Format | None
    outputs: Sequence[Path]
    fail_on: str | None

    def __post_init__(self) -> None:
        """Refuse what would end a review after minutes."""
        if self.fail_on is not None:
            parse_fail_on(self.fail_on)
        for file in self.outputs:
            if not file.parent.is_dir():
                raise TrainshedError(f"--output {file}: there is no folder {file.parent}; make it")
            if file.is_dir():
                raise TrainshedError(f"--output {file} is a folder; name a file in it")

    def write(self, review: Review) -> bool:
        """Write the report, and return whether a threshold is met.

        Args:
            review: redacted.
        """
        for file in self.outputs:
            _write(_text(review, self.form or _ENDINGS.get(file.suffix, Format.MARKDOWN)), file)
        if not self.outputs and self.form is Format.JSON:
            print_json(asdict(review))
        elif not self.outputs:
            say(*_text(review, self.form or Format.MARKDOWN).split("\n"))
        met = failures(review, parse_fail_on(self.fail_on)) if self.fail_on is not None else ()
        for line in met:
            say(f"--fail-on {line}", err=True)
        return bool(met)


@contextmanager
def reviewing() -> Iterator[Step]:
    """Show progress, and leave secrets out of errors.

    An error has what the app said, and the log of a job is as public as a report.
    """
    with progress() as step:
        try:
            yield step
        except TrainshedError as error:
            # As one text, because a private key has several lines.
            error.lines = tuple(redacted(str(error)).split("\n"))
            raise


def _text(review: Review, form: Format) -> str:
    match form:
        case Format.MARKDOWN:
            return markdown_report(review)
        case Format.HTML:
            return html_report(review)
        case Format.JSON:
            return dumps(asdict(review), indent=2, default=str)


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
